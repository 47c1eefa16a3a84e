import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.Parser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;

/** The core: a module without imports, which answers requests with lines (docs/protocol.md). */
final class Core {
  static final ObjectMapper JSON = new ObjectMapper();

  private final Memory memory;
  private final ExportFunction room;
  private final ExportFunction call;

  Core(Path module) {
    Instance instance = Instance.builder(Parser.parse(module.toFile())).build();
    memory = instance.memory();
    room = instance.export("innerloop_room");
    call = instance.export("innerloop_call");
  }

  /** The answer's lines to a request and to the bytes behind it. */
  String[] lines(String verb, Object request, byte[] bytes, int length) throws IOException {
    ByteArrayOutputStream asked = new ByteArrayOutputStream();
    asked.writeBytes(JSON.writeValueAsBytes(Map.of(verb, request)));
    asked.write('\n');
    asked.write(bytes, 0, length);
    int address = (int) room.apply(asked.size())[0];
    if (address == 0) {
      throw new IOException("there is no memory left");
    }
    memory.write(address, asked.toByteArray());
    long answer = call.apply(asked.size())[0];
    String text = new String(memory.readBytes((int) (answer >>> 32), (int) answer), StandardCharsets.UTF_8);
    return text.isEmpty() ? new String[0] : text.split("\n");
  }

  /** The answer to a request that has one line for it. */
  JsonNode ask(String verb, Object request) throws IOException {
    JsonNode answer = JSON.readTree(lines(verb, request, new byte[0], 0)[0]);
    if (answer.has("error")) {
      throw new Refusal(answer.get("error"));
    }
    return answer;
  }

  /** Why the core did not take a request, or the session an input; nothing has changed. */
  static final class Refusal extends IOException {
    /** The error's code, or the reason of the session. */
    final String code;

    /** The field that does not fit, or an empty text. */
    final String field;

    /** How its JSON does not fit ({@code docs/protocol.md}, JsonFault), or a missing node. */
    final JsonNode fault;

    /** Of the value of an {@code error} or a {@code rejected} line. */
    Refusal(JsonNode said) {
      super(said.get("message").asText());
      JsonNode reason = said.path("reason");
      JsonNode place = reason.has("config") ? reason.get("config") : said;
      code = reason.isObject() ? reason.fieldNames().next() : said.get("code").asText();
      field = place.path("field").asText();
      fault = place.path("fault");
    }
  }
}
