import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * An agent with one tool, in pure Java. Each effect has a thread of its own and tells its news to
 * the main one, which alone talks to the session.
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

  /** What has happened, to be told to the session. */
  private interface News {
    void tell() throws IOException;
  }

  private final HttpClient http = HttpClient.newHttpClient();
  private final BlockingQueue<News> news = new LinkedBlockingQueue<>();
  private final Map<Long, Thread> threads = new HashMap<>();
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
                    "id", "java-" + System.currentTimeMillis(),
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
    Map<String, Object> parts = Map.of("endpoints", List.of(endpoint), "entries", true);
    try (Session session = new Session(core, config, parts, Path.of("weather.log.jsonl"))) {
      Weather weather = new Weather(session);
      // What a session that goes on had under way comes first.
      weather.work();
      session.submit(words[0]);
      weather.work();
      System.out.println();
      if (!session.end().equals("completed")) {
        System.err.println(session.end() + ": " + session.failure());
        System.exit(1);
      }
    }
  }

  /** Carries out what follows until the run ends, and tells the session when it is time. */
  private void work() throws IOException, InterruptedException {
    while (session.end() == null) {
      for (JsonNode effect = session.next(); effect != null; effect = session.next()) {
        effect.fields().forEachRemaining(one -> begin(one.getKey(), one.getValue()));
      }
      News next = news.poll(session.patience(), TimeUnit.MILLISECONDS);
      if (next == null) {
        session.hear("tick");
      } else {
        next.tell();
      }
    }
  }

  /** Begins an effect, or stops one. */
  private void begin(String kind, JsonNode effect) {
    long id = effect.get("id").asLong();
    if (kind.equals("cancel")) {
      Thread thread = threads.get(id);
      if (thread != null) {
        thread.interrupt();
      }
      return;
    }
    Runnable work =
        switch (kind) {
          case "http" -> () -> send(id, effect.get("request"));
          case "run_tool" -> () -> runTool(id, effect.get("run"));
          // Nobody is asked here, and there are no hooks.
          default -> () -> hear(Map.of("lost", Map.of("id", id)));
        };
    Thread thread = new Thread(work, kind + " " + id);
    thread.setDaemon(true);
    threads.put(id, thread);
    thread.start();
  }

  private void hear(Object input) {
    news.add(() -> session.hear(input));
  }

  private void hearHttp(long id, Object input) {
    hear(Map.of("http", Map.of("id", id, "input", input)));
  }

  /** Sends a request as it is, and hands in what comes. */
  private void send(long id, JsonNode request) {
    try {
      HttpRequest.Builder post =
          HttpRequest.newBuilder(URI.create(request.get("url").asText()))
              .POST(HttpRequest.BodyPublishers.ofString(request.get("body").asText()));
      request.get("headers").forEach(header -> post.header(header.get(0).asText(), header.get(1).asText()));
      if (request.hasNonNull("key")) {
        post.header(request.get("key").get(0).asText(), request.get("key").get(1).asText());
      }
      HttpResponse<InputStream> response =
          http.send(post.build(), HttpResponse.BodyHandlers.ofInputStream());
      List<List<String>> headers =
          response.headers().map().entrySet().stream()
              .filter(header -> !header.getKey().startsWith(":"))
              .map(header -> List.of(header.getKey(), String.join(", ", header.getValue())))
              .toList();
      long at = System.currentTimeMillis();
      int status = response.statusCode();
      hearHttp(id, Map.of("head", Map.of("status", status, "headers", headers, "at", at)));
      byte[] piece = new byte[8192];
      try (InputStream body = response.body()) {
        for (int length = body.read(piece); length >= 0; length = body.read(piece)) {
          byte[] bytes = Arrays.copyOf(piece, length);
          news.add(() -> session.chunk(id, bytes, bytes.length));
        }
      }
      hearHttp(id, "end");
    } catch (IOException | InterruptedException | RuntimeException error) {
      String message = String.valueOf(error.getMessage());
      hearHttp(id, Map.of("failed", Map.of("kind", "network", "message", message)));
    }
  }

  /** Runs a tool; what goes wrong the model is told. */
  private void runTool(long id, JsonNode run) {
    Map<String, Object> outcome;
    try {
      String said =
          switch (run.get("name").asText()) {
            case "weather" -> weather(run.at("/job/custom/city").asText());
            default -> throw new IllegalArgumentException("there is no tool " + run.get("name"));
          };
      outcome = Map.of("parts", List.of(Map.of("type", "text", "text", said)));
    } catch (RuntimeException error) {
      Object part = Map.of("type", "text", "text", String.valueOf(error.getMessage()));
      outcome = Map.of("parts", List.of(part), "error", "crashed");
    }
    hear(Map.of("tool", Map.of("id", id, "input", Map.of("done", outcome))));
  }

  /** The tool. Yours would ask somebody. */
  private static String weather(String city) {
    return "21 °C and sunny in " + city;
  }
}
