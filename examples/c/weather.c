// An agent with one tool, in C. The core is compiled into the program: wasm2c makes C of its
// module, so that no WebAssembly is left to run. What is sent to it and what comes back stands in
// docs/protocol.md, under Lines.
//
//     ANTHROPIC_API_KEY=sk-ant-your-key ./weather "Is it warm in Lima?"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core.h"

static Z_innerloop_instance_t core;
static json_t *effects;        // what is to be carried out, oldest first
static json_int_t session, now;
static FILE *session_log;

static json_int_t clock_ms(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (json_int_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "weather: %s\n", what);
  exit(1);
}

// The answer to a request, which is taken, and to the bytes behind it. It stands in the module's
// memory until the next one.
static const char *ask(json_t *request, const char *bytes, size_t length, size_t *answered) {
  char *line = json_dumps(request, JSON_COMPACT);
  size_t head = strlen(line);
  u32 room = Z_innerloopZ_innerloop_room(&core, head + 1 + length);
  if (room == 0) fail("there is no memory left");
  u8 *at = Z_innerloopZ_memory(&core)->data + room;
  memcpy(at, line, head);
  at[head] = '\n';
  memcpy(at + head + 1, bytes, length);
  free(line);
  json_decref(request);
  u64 answer = Z_innerloopZ_innerloop_call(&core, head + 1 + length);
  *answered = (u32)answer;
  return (const char *)Z_innerloopZ_memory(&core)->data + (answer >> 32);
}

static void show(const json_t *event) {
  const char *type = json_string_value(json_object_get(event, "type"));
  if (strcmp(type, "assistant_text_delta") == 0) {
    fputs(json_string_value(json_object_get(event, "text")), stdout);
  } else if (strcmp(type, "tool_call_start") == 0) {
    fprintf(stderr, "[%s %s]\n", json_string_value(json_object_get(event, "name")),
            json_string_value(json_object_get(event, "arguments")));
  } else if (strcmp(type, "error") == 0) {
    fail(json_string_value(json_object_get(event, "message")));
  }
}

// Asks, and takes what follows: each line is an object with one key.
static void step(json_t *request, const char *bytes, size_t length) {
  size_t left, size;
  const char *line = ask(request, bytes, length, &left);
  for (; left > 0; line += size, left -= size) {
    size = (const char *)memchr(line, '\n', left) - line + 1;
    json_t *object = json_loadb(line, size, JSON_DISABLE_EOF_CHECK, NULL), *value;
    const char *key;
    json_object_foreach(object, key, value) {
      if (strcmp(key, "session") == 0) session = json_integer_value(value);
      if (strcmp(key, "now") == 0) now = json_integer_value(value) - clock_ms(CLOCK_MONOTONIC);
      if (strcmp(key, "effect") == 0) json_array_append(effects, value);
      if (strcmp(key, "event") == 0) show(value);
      if (strcmp(key, "error") == 0 || strcmp(key, "rejected") == 0) {
        fprintf(stderr, "%.*s", (int)size, line);
        fail("the core has refused that");
      }
      // The log has the entry as it is, without the key around it.
      if (strcmp(key, "entry") == 0) {
        size_t before = strlen("{\"entry\":"), after = strlen("}\n");
        fwrite(line + before, 1, size - before - after, session_log);
        fputc('\n', session_log);
      }
    }
    json_decref(object);
  }
  // What happened is on disk before anything follows from it.
  if (fflush(session_log) != 0) fail("the log cannot be written");
}

static void hear(json_t *input) {
  json_int_t at = now + clock_ms(CLOCK_MONOTONIC);
  step(json_pack("{s:{s:I,s:I,s:o}}", "handle", "session", session, "at", at, "input", input), "", 0);
}

static void hear_http(json_int_t id, json_t *input) {
  hear(json_pack("{s:{s:I,s:o}}", "http", "id", id, "input", input));
}

struct call {
  CURL *curl;
  json_int_t id;
  char type[128];
  int has_head;
};

static size_t on_header(char *line, size_t size, size_t count, void *context) {
  struct call *call = context;
  sscanf(line, "%*[Cc]ontent-%*[Tt]ype: %127[^\r\n]", call->type);
  return size * count;
}

static void give_head(struct call *call) {
  long status;
  curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
  json_t *head = json_pack("{s:i,s:[[s,s]]}", "status", (int)status, "headers", "content-type",
                           call->type);
  hear_http(call->id, json_pack("{s:o}", "head", head));
  call->has_head = 1;
}

static size_t on_chunk(char *bytes, size_t size, size_t count, void *context) {
  struct call *call = context;
  if (!call->has_head) give_head(call);
  json_int_t at = now + clock_ms(CLOCK_MONOTONIC);
  step(json_pack("{s:{s:I,s:I,s:I}}", "chunk", "session", session, "at", at, "id", call->id), bytes,
       size * count);
  return size * count;
}

// Sends a request as it is, and hands in what comes.
static void send_http(json_int_t id, const json_t *request) {
  struct call call = {.curl = curl_easy_init(), .id = id};
  struct curl_slist *headers = NULL;
  json_t *list = json_copy(json_object_get(request, "headers")), *header;
  json_t *key = json_object_get(request, "key");
  if (json_is_array(key)) json_array_append(list, key);
  size_t at;
  json_array_foreach(list, at, header) {
    char line[4096];
    snprintf(line, sizeof line, "%s: %s", json_string_value(json_array_get(header, 0)),
             json_string_value(json_array_get(header, 1)));
    headers = curl_slist_append(headers, line);
  }
  json_decref(list);
  json_t *body = json_object_get(request, "body");
  curl_easy_setopt(call.curl, CURLOPT_URL, json_string_value(json_object_get(request, "url")));
  curl_easy_setopt(call.curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)json_string_length(body));
  curl_easy_setopt(call.curl, CURLOPT_POSTFIELDS, json_string_value(body));
  curl_easy_setopt(call.curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(call.curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(call.curl, CURLOPT_HEADERDATA, &call);
  curl_easy_setopt(call.curl, CURLOPT_WRITEFUNCTION, on_chunk);
  curl_easy_setopt(call.curl, CURLOPT_WRITEDATA, &call);
  CURLcode code = curl_easy_perform(call.curl);
  if (code == CURLE_OK && !call.has_head) give_head(&call);
  if (code == CURLE_OK) {
    hear_http(id, json_pack("{s:n}", "end"));
  } else {
    hear_http(id, json_pack("{s:{s:s,s:s}}", "failed", "kind", "network", "message",
                            curl_easy_strerror(code)));
  }
  curl_slist_free_all(headers);
  curl_easy_cleanup(call.curl);
}

// The tool. Yours would ask somebody.
static void run_tool(json_int_t id, const json_t *run) {
  json_t *arguments = json_object_get(json_object_get(run, "job"), "custom");
  const char *city = json_string_value(json_object_get(arguments, "city"));
  char text[256];
  snprintf(text, sizeof text, "21 °C and sunny in %s", city ? city : "that place");
  hear(json_pack("{s:{s:I,s:{s:{s:[{s:s,s:s}]}}}}", "tool", "id", id, "input", "done", "parts",
                 "type", "text", "text", text));
}

// Carries out what has come, and what comes of that, until nothing does.
static void follow(void) {
  while (json_array_size(effects) > 0) {
    json_t *effect = json_incref(json_array_get(effects, 0)), *value;
    json_array_remove(effects, 0);
    const char *kind;
    json_object_foreach(effect, kind, value) {
      json_int_t id = json_integer_value(json_object_get(value, "id"));
      if (strcmp(kind, "http") == 0) send_http(id, json_object_get(value, "request"));
      if (strcmp(kind, "run_tool") == 0) run_tool(id, json_object_get(value, "run"));
    }
    json_decref(effect);
  }
}

// What the session is made of: the model, the tool, and nothing of the tools that a coder has.
static json_t *config(const char *model) {
  json_t *request = json_pack(
      "{s:{s:s,s:s,s:s,s:[{s:s,s:s,s:{s:s,s:{s:{s:s}},s:[s]}}],s:[{s:s}]}}", "config", "id", "c-1",
      "provider", "anthropic", "model", model, "tools", "name", "weather", "description",
      "The weather of a city", "parameters", "type", "object", "properties", "city", "type",
      "string", "required", "city", "patches", "builtin_tools", "none");
  size_t length;
  const char *answer = ask(request, "", 0, &length);
  json_t *lines = json_loadb(answer, length, 0, NULL);
  json_t *config = json_incref(json_object_get(lines, "config"));
  if (config == NULL) fail("the core has no such configuration");
  json_decref(lines);
  return config;
}

int main(int count, char **words) {
  const char *key = getenv("ANTHROPIC_API_KEY"), *model = getenv("MODEL");
  if (count != 2 || key == NULL) fail("say what you want to know, and set ANTHROPIC_API_KEY");
  session_log = fopen("weather.log.jsonl", "w");
  if (session_log == NULL) fail("weather.log.jsonl cannot be written");
  wasm_rt_init();
  Z_innerloop_init_module();
  Z_innerloop_instantiate(&core);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  effects = json_array();

  json_t *endpoint = json_pack("{s:s,s:s,s:s*}", "provider", "anthropic", "key", key, "base_url",
                               getenv("ANTHROPIC_BASE_URL"));
  step(json_pack("{s:{s:o,s:{s:[o],s:b},s:I}}", "open", "config", config(model ? model : "claude-sonnet-5-5"),
                 "parts", "endpoints", endpoint, "entries", 1, "wall", clock_ms(CLOCK_REALTIME)),
       "", 0);
  hear(json_pack("{s:{s:i,s:{s:{s:[{s:s,s:s}]}}}}", "command", "agent", 0, "command", "submit",
                 "parts", "type", "text", "text", words[1]));
  follow();
  puts("");
  fclose(session_log);
  return 0;
}
