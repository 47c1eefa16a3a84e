import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * Replays a corpus of logs by Chicory, with the core of the example in Java: {@code Replay MODULE
 * FOLDER}. Prints a log's name and the digest of its outputs a line.
 */
final class Replay {
  private static final String END = ".log.jsonl";

  private Replay() {}

  public static void main(String[] words) throws IOException, GeneralSecurityException {
    Core core = new Core(Path.of(words[0]));
    List<Path> logs;
    try (Stream<Path> files = Files.list(Path.of(words[1]))) {
      logs = files.filter(file -> file.toString().endsWith(END)).sorted().toList();
    }
    for (Path log : logs) {
      byte[] bytes = Files.readAllBytes(log);
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (String line : core.lines("replay", Core.JSON.nullNode(), bytes, bytes.length)) {
        digest.update((line + "\n").getBytes(StandardCharsets.UTF_8));
      }
      String name = log.getFileName().toString();
      name = name.substring(0, name.length() - END.length());
      System.out.println(name + " " + HexFormat.of().formatHex(digest.digest()));
    }
  }
}
