import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** A session: what it is told, its log on disk, and what it wants to be done. */
final class Session implements AutoCloseable {
  private static final int BEFORE = "{\"entry\":".length();

  private final Core core;
  private final FileChannel log;
  private final Deque<JsonNode> effects = new ArrayDeque<>();
  private long number;
  /** What session time is at the machine's zero. */
  private long zero;

  private Session(Core core, FileChannel log) {
    this.core = core;
    this.log = log;
  }

  /** Opens a session of this configuration, with one endpoint, whose log is a new file. */
  static Session open(Core core, JsonNode config, Map<String, Object> endpoint, Path log)
      throws IOException {
    FileChannel file =
        FileChannel.open(
            log,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    Session session = new Session(core, file);
    Map<String, Object> parts = Map.of("endpoints", List.of(endpoint), "entries", true);
    Object request = Map.of("config", config, "parts", parts, "wall", System.currentTimeMillis());
    session.step("open", request, new byte[0], 0);
    return session;
  }

  /** Tells it what has happened. */
  void hear(String kind, Object input) throws IOException {
    Object request = Map.of("session", number, "at", now(), "input", Map.of(kind, input));
    step("handle", request, new byte[0], 0);
  }

  /** Hands in a piece of a response's body. */
  void chunk(long effect, byte[] bytes, int length) throws IOException {
    step("chunk", Map.of("session", number, "at", now(), "id", effect), bytes, length);
  }

  /** What is to be done next, oldest first; nothing if there is nothing to do. */
  JsonNode next() {
    return effects.poll();
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
      if (text.startsWith("{\"entry\":")) {
        // The log has the entry as it is, without the key around it.
        String entry = text.substring(BEFORE, text.length() - 1) + "\n";
        log.write(ByteBuffer.wrap(entry.getBytes(StandardCharsets.UTF_8)));
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
      } else if (line.has("error") || line.has("rejected")) {
        throw new IOException(line.findPath("message").asText());
      }
    }
    log.force(false);
  }

  private static void show(JsonNode event) {
    switch (event.get("type").asText()) {
      case "assistant_text_delta" -> System.out.print(event.get("text").asText());
      case "tool_call_start" ->
          System.err.printf("[%s %s]%n", event.get("name").asText(), event.get("arguments").asText());
      case "error" -> System.err.println(event.get("message").asText());
      default -> {}
    }
  }
}
