import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/** A session: what it is told, its log on disk, what it wants to be done, and how its run ends. */
final class Session implements AutoCloseable {
  private static final String ENTRY = "{\"entry\":";

  private final Core core;
  private final FileChannel log;
  private final Deque<JsonNode> effects = new ArrayDeque<>();
  private long number;

  /** What session time is at the machine's zero. */
  private long zero;

  /** The session time at which it wants to hear of the time; null if it does not. */
  private Long deadline;

  private String end;
  private String failure = "";

  /**
   * Goes on with the session of a log, or opens one of this configuration where there is no log.
   * Either begins a new log, which takes the place of the old one when it is whole.
   */
  Session(Core core, JsonNode config, Map<String, Object> parts, Path path) throws IOException {
    this.core = core;
    long wall = System.currentTimeMillis();
    byte[] old = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
    Path fresh = path.resolveSibling(path.getFileName() + ".new");
    Files.deleteIfExists(fresh);
    log = FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      // It holds all that was said: it is for nobody else.
      fresh.toFile().setReadable(false, false);
      fresh.toFile().setReadable(true, true);
      if (old.length == 0) {
        step("open", Map.of("config", config, "parts", parts, "wall", wall), old, 0);
      } else {
        step("resume", Map.of("parts", parts, "wall", wall), old, old.length);
      }
      Files.move(fresh, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException error) {
      log.close();
      throw error;
    }
    String state = core.ask("status", Map.of("session", number)).at("/status/state").asText();
    end = state.equals("idle") || state.equals("closed") ? "" : null;
  }

  /** Lets the agent work on an input. */
  void submit(String text) throws IOException {
    end = null;
    Object submit = Map.of("parts", new Object[] {Map.of("type", "text", "text", text)});
    hear(Map.of("command", Map.of("agent", 0, "command", Map.of("submit", submit))));
  }

  /** Tells it what has happened. */
  void hear(Object input) throws IOException {
    step("handle", Map.of("session", number, "at", now(), "input", input), new byte[0], 0);
  }

  /** Hands in a piece of a response's body. */
  void chunk(long effect, byte[] bytes, int length) throws IOException {
    step("chunk", Map.of("session", number, "at", now(), "id", effect), bytes, length);
  }

  /** What is to be done next, oldest first; null if there is nothing to do. */
  JsonNode next() {
    return effects.poll();
  }

  /** Milliseconds until it wants to hear of the time. */
  long patience() {
    return deadline == null ? Long.MAX_VALUE : Math.max(0, deadline - now());
  }

  /** How the run ended; null while one is under way. */
  String end() {
    return end;
  }

  /** Why it failed, if it did. */
  String failure() {
    return failure;
  }

  @Override
  public void close() throws IOException {
    core.lines("close", Map.of("session", number), new byte[0], 0);
    log.close();
  }

  private long now() {
    return System.nanoTime() / 1_000_000 + zero;
  }

  // What happened is on disk before anything follows from it.
  private void step(String verb, Object request, byte[] bytes, int length) throws IOException {
    for (String text : core.lines(verb, request, bytes, length)) {
      if (text.startsWith(ENTRY)) {
        // The log has the entry as it is, without the key around it.
        String entry = text.substring(ENTRY.length(), text.length() - 1) + "\n";
        ByteBuffer written = ByteBuffer.wrap(entry.getBytes(StandardCharsets.UTF_8));
        while (written.hasRemaining()) {
          log.write(written);
        }
        continue;
      }
      JsonNode line = Core.JSON.readTree(text);
      if (line.has("session")) {
        number = line.get("session").asLong();
      } else if (line.has("now")) {
        zero = line.get("now").asLong() - System.nanoTime() / 1_000_000;
      } else if (line.has("effect")) {
        effects.add(line.get("effect"));
      } else if (line.has("event")) {
        show(line.get("event"));
      } else if (line.has("deadline")) {
        deadline = line.get("deadline").isNull() ? null : line.get("deadline").asLong();
      } else if (line.has("error") || line.has("rejected")) {
        throw new Core.Refusal(line.elements().next());
      }
    }
    log.force(false);
  }

  private void show(JsonNode event) {
    switch (event.get("type").asText()) {
      case "assistant_text_delta" -> System.out.print(event.get("text").asText());
      case "tool_call_start" ->
          System.err.printf("[%s %s]%n", event.get("name").asText(), event.get("arguments").asText());
      case "error" -> failure = event.get("message").asText();
      case "processing_end" -> end = event.get("end").asText();
      default -> {}
    }
  }
}
