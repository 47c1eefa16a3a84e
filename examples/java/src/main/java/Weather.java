import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An agent with one tool, in pure Java.
 *
 * <pre>ANTHROPIC_API_KEY=sk-ant-your-key mvn -q compile exec:java \
 *   -Dexec.args="'Is it warm in Lima?'"</pre>
 */
public final class Weather {
  private static final Map<String, Object> TOOL =
      Map.of(
          "name", "weather",
          "description", "The weather of a city",
          "parameters",
              Map.of(
                  "type", "object",
                  "properties", Map.of("city", Map.of("type", "string")),
                  "required", List.of("city")));

  private final HttpClient http = HttpClient.newHttpClient();
  private final Session session;

  private Weather(Session session) {
    this.session = session;
  }

  public static void main(String[] words) throws Exception {
    Map<String, String> env = System.getenv();
    if (words.length != 1 || !env.containsKey("ANTHROPIC_API_KEY")) {
      System.err.println("say what you want to know, and set ANTHROPIC_API_KEY");
      System.exit(2);
    }
    Core core = new Core(Path.of(env.getOrDefault("CORE", "target/core/innerloop_core.wasm")));
    JsonNode config =
        core.ask(
                "config",
                Map.of(
                    "id", "java-1",
                    "provider", "anthropic",
                    "model", env.getOrDefault("MODEL", "claude-sonnet-5-5"),
                    "tools", List.of(TOOL),
                    "patches", List.of(Map.of("builtin_tools", "none"))))
            .get("config");
    Map<String, Object> endpoint = new HashMap<>();
    endpoint.put("provider", "anthropic");
    endpoint.put("key", env.get("ANTHROPIC_API_KEY"));
    if (env.containsKey("ANTHROPIC_BASE_URL")) {
      endpoint.put("base_url", env.get("ANTHROPIC_BASE_URL"));
    }
    try (Session session = Session.open(core, config, endpoint, Path.of("weather.log.jsonl"))) {
      new Weather(session).run(words[0]);
    }
  }

  /** Lets the agent work on an input, and carries out what follows until nothing does. */
  private void run(String text) throws IOException, InterruptedException {
    Object part = Map.of("type", "text", "text", text);
    session.hear("command", Map.of("agent", 0, "command", Map.of("submit", Map.of("parts", List.of(part)))));
    for (JsonNode effect = session.next(); effect != null; effect = session.next()) {
      if (effect.has("http")) {
        send(effect.get("http"));
      } else if (effect.has("run_tool")) {
        runTool(effect.get("run_tool"));
      }
    }
    System.out.println();
  }

  /** Sends a request as it is, and hands in what comes. */
  private void send(JsonNode effect) throws IOException, InterruptedException {
    long id = effect.get("id").asLong();
    JsonNode request = effect.get("request");
    HttpRequest.Builder post =
        HttpRequest.newBuilder(URI.create(request.get("url").asText()))
            .POST(HttpRequest.BodyPublishers.ofString(request.get("body").asText()));
    request.get("headers").forEach(header -> post.header(header.get(0).asText(), header.get(1).asText()));
    if (request.hasNonNull("key")) {
      post.header(request.get("key").get(0).asText(), request.get("key").get(1).asText());
    }
    try {
      HttpResponse<InputStream> response =
          http.send(post.build(), HttpResponse.BodyHandlers.ofInputStream());
      List<List<String>> headers =
          response.headers().map().entrySet().stream()
              .filter(header -> !header.getKey().startsWith(":"))
              .map(header -> List.of(header.getKey(), String.join(", ", header.getValue())))
              .toList();
      hearHttp(id, Map.of("head", Map.of("status", response.statusCode(), "headers", headers)));
      byte[] piece = new byte[8192];
      try (InputStream body = response.body()) {
        for (int length = body.read(piece); length >= 0; length = body.read(piece)) {
          session.chunk(id, piece, length);
        }
      }
    } catch (IOException error) {
      String message = String.valueOf(error.getMessage());
      hearHttp(id, Map.of("failed", Map.of("kind", "network", "message", message)));
      return;
    }
    hearHttp(id, "end");
  }

  private void hearHttp(long id, Object input) throws IOException {
    session.hear("http", Map.of("id", id, "input", input));
  }

  /** The tool. Yours would ask somebody. */
  private void runTool(JsonNode effect) throws IOException {
    String city = effect.at("/run/job/custom/city").asText("that place");
    Object part = Map.of("type", "text", "text", "21 °C and sunny in " + city);
    Object done = Map.of("done", Map.of("parts", List.of(part)));
    session.hear("tool", Map.of("id", effect.get("id").asLong(), "input", done));
  }
}
