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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core.h"

#define LOG "weather.log.jsonl"

static Z_innerloop_instance_t core;
static json_t *effects;        // what is to be carried out, oldest first
static json_int_t session, now;
static json_int_t deadline = -1;  // the session time of the next tick, if there is one
static json_int_t stopped;        // the newest effect that was cancelled
static char *end, *failure;       // how the run ended, and why it failed
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

static void replace(char **text, const json_t *value) {
  free(*text);
  *text = strdup(json_string_value(value));
}

// The answer to a request, which is taken, and to the bytes behind it. It stands in the module's
// memory until the next one.
static const char *ask(json_t *request, const char *bytes, size_t length, size_t *answered) {
  char *line = json_dumps(request, JSON_COMPACT);
  if (line == NULL) fail("what is said is no UTF-8");
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
    replace(&failure, json_object_get(event, "message"));
  } else if (strcmp(type, "processing_end") == 0) {
    replace(&end, json_object_get(event, "end"));
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
      if (strcmp(key, "deadline") == 0) deadline = json_is_null(value) ? -1 : json_integer_value(value);
      json_t *cancel = strcmp(key, "effect") == 0 ? json_object_get(value, "cancel") : NULL;
      if (cancel != NULL) stopped = json_integer_value(json_object_get(cancel, "id"));
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
  if (fflush(session_log) != 0 || fsync(fileno(session_log)) != 0) fail("the log cannot be written");
}

static void hear(json_t *input) {
  json_int_t at = now + clock_ms(CLOCK_MONOTONIC);
  step(json_pack("{s:{s:I,s:I,s:o}}", "handle", "session", session, "at", at, "input", input), "", 0);
}

static void hear_http(json_int_t id, json_t *input) {
  hear(json_pack("{s:{s:I,s:o}}", "http", "id", id, "input", input));
}

// Tells the session that it is time, if it is.
static void tick(void) {
  if (deadline >= 0 && now + clock_ms(CLOCK_MONOTONIC) > deadline) hear(json_string("tick"));
}

struct call {
  CURL *curl;
  json_int_t id;
  json_t *headers;
  int has_head;
};

static size_t on_header(char *line, size_t size, size_t count, void *context) {
  struct call *call = context;
  size_t length = size * count;
  const char *colon = memchr(line, ':', length);
  if (length > 5 && memcmp(line, "HTTP/", 5) == 0) {
    json_array_clear(call->headers);  // What came before was not the answer yet.
  } else if (colon != NULL) {
    const char *value = colon + 1, *last = line + length;
    while (value < last && *value == ' ') value++;
    while (last > value && (last[-1] == '\r' || last[-1] == '\n')) last--;
    json_t *name = json_stringn(line, colon - line), *said = json_stringn(value, last - value);
    // Bytes that are not UTF-8 say nothing to the session.
    if (name != NULL && said != NULL) json_array_append_new(call->headers, json_pack("[O,O]", name, said));
    json_decref(name);
    json_decref(said);
  }
  return length;
}

static void give_head(struct call *call) {
  long status;
  curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
  json_t *head = json_pack("{s:i,s:O,s:I}", "status", (int)status, "headers", call->headers, "at",
                           clock_ms(CLOCK_REALTIME));
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

// Is called about once a second, also while nothing comes: the session knows how long it waits.
static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)a, (void)b, (void)c, (void)d;
  tick();
  return stopped == ((struct call *)context)->id;
}

// Sends a request as it is, and hands in what comes.
static void send_http(json_int_t id, const json_t *request) {
  struct call call = {.curl = curl_easy_init(), .id = id, .headers = json_array()};
  struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
  json_t *list = json_copy(json_object_get(request, "headers")), *header;
  json_t *key = json_object_get(request, "key");
  if (json_is_array(key)) json_array_append(list, key);
  size_t at;
  json_array_foreach(list, at, header) {
    json_t *line = json_sprintf("%s: %s", json_string_value(json_array_get(header, 0)),
                                json_string_value(json_array_get(header, 1)));
    headers = curl_slist_append(headers, json_string_value(line));
    json_decref(line);
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
  curl_easy_setopt(call.curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(call.curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(call.curl, CURLOPT_XFERINFODATA, &call);
  CURLcode code = curl_easy_perform(call.curl);
  if (code == CURLE_OK && !call.has_head) give_head(&call);
  if (code == CURLE_OK) {
    hear_http(id, json_pack("{s:n}", "end"));
  } else {
    hear_http(id, json_pack("{s:{s:s,s:s}}", "failed", "kind", "network", "message",
                            curl_easy_strerror(code)));
  }
  json_decref(call.headers);
  curl_slist_free_all(headers);
  curl_easy_cleanup(call.curl);
}

// The tool. Yours would ask somebody.
static json_t *weather(const json_t *arguments) {
  const char *city = json_string_value(json_object_get(arguments, "city"));
  return json_sprintf("21 °C and sunny in %s", city ? city : "that place");
}

static void run_tool(json_int_t id, const json_t *run) {
  const char *name = json_string_value(json_object_get(run, "name"));
  json_t *arguments = json_object_get(json_object_get(run, "job"), "custom"), *done;
  if (strcmp(name, "weather") == 0) {
    done = json_pack("{s:[{s:s,s:o}]}", "parts", "type", "text", "text", weather(arguments));
  } else {
    done = json_pack("{s:[{s:s,s:o}],s:s}", "parts", "type", "text", "text",
                     json_sprintf("there is no tool %s", name), "error", "unknown_tool");
  }
  hear(json_pack("{s:{s:I,s:{s:o}}}", "tool", "id", id, "input", "done", done));
}

// Carries out what has come, and what comes of that, until the run ends.
static void follow(void) {
  while (end == NULL) {
    if (json_array_size(effects) == 0) {
      // There is nothing to do before it is time to try again.
      nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
      tick();
      continue;
    }
    json_t *effect = json_incref(json_array_get(effects, 0)), *value;
    json_array_remove(effects, 0);
    const char *kind;
    json_object_foreach(effect, kind, value) {
      json_int_t id = json_integer_value(json_object_get(value, "id"));
      if (strcmp(kind, "http") == 0) {
        send_http(id, json_object_get(value, "request"));
      } else if (strcmp(kind, "run_tool") == 0) {
        run_tool(id, json_object_get(value, "run"));
      } else if (strcmp(kind, "cancel") != 0) {
        hear(json_pack("{s:{s:I}}", "lost", "id", id));  // Nobody is asked here.
      }
    }
    json_decref(effect);
  }
}

// What the session is made of: the model, the tool, and nothing of the tools that a coder has.
static json_t *config(const char *model) {
  char id[32];
  snprintf(id, sizeof id, "c-%lld", (long long)clock_ms(CLOCK_REALTIME));
  json_t *request = json_pack(
      "{s:{s:s,s:s,s:s,s:[{s:s,s:s,s:{s:s,s:{s:{s:s}},s:[s]}}],s:[{s:s}]}}", "config", "id", id,
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

// What the log of an earlier session holds; nothing, if there is none.
static char *old_log(size_t *length) {
  FILE *file = fopen(LOG, "rb");
  char *text = NULL;
  *length = 0;
  for (size_t got = 1; file != NULL && got > 0; *length += got) {
    text = realloc(text, *length + 65536);
    got = fread(text + *length, 1, 65536, file);
  }
  if (file != NULL) fclose(file);
  return text;
}

// Opens a session, or goes on with the one of the log. Either begins a new log, which takes the
// place of the old one when it is whole. It holds all that was said: it is for nobody else.
static void begin(const char *model, json_t *endpoint) {
  size_t length;
  char *log = old_log(&length);
  umask(077);
  session_log = fopen(LOG ".new", "w");
  if (session_log == NULL) fail(LOG " cannot be written");
  json_t *parts = json_pack("{s:[o],s:b}", "endpoints", endpoint, "entries", 1);
  json_int_t wall = clock_ms(CLOCK_REALTIME);
  if (length > 0) {
    step(json_pack("{s:{s:o,s:I}}", "resume", "parts", parts, "wall", wall), log, length);
  } else {
    step(json_pack("{s:{s:o,s:o,s:I}}", "open", "config", config(model), "parts", parts, "wall", wall), "", 0);
  }
  free(log);
  if (rename(LOG ".new", LOG) != 0) fail(LOG " cannot be written");
}

// Whether a session that goes on has a run under way.
static int is_busy(void) {
  size_t length;
  const char *answer = ask(json_pack("{s:{s:I}}", "status", "session", session), "", 0, &length);
  json_t *lines = json_loadb(answer, length, 0, NULL), *status = json_object_get(lines, "status");
  const char *state = json_string_value(json_object_get(status, "state"));
  int is_busy = strcmp(state, "idle") != 0 && strcmp(state, "closed") != 0;
  json_decref(lines);
  return is_busy;
}

int main(int count, char **words) {
  const char *key = getenv("ANTHROPIC_API_KEY"), *model = getenv("MODEL");
  if (count != 2 || key == NULL) fail("say what you want to know, and set ANTHROPIC_API_KEY");
  wasm_rt_init();
  Z_innerloop_init_module();
  Z_innerloop_instantiate(&core);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  effects = json_array();
  json_t *endpoint = json_pack("{s:s,s:s,s:s*}", "provider", "anthropic", "key", key, "base_url",
                               getenv("ANTHROPIC_BASE_URL"));
  begin(model ? model : "claude-sonnet-5-5", endpoint);
  // What a session that goes on had under way comes first.
  if (is_busy()) follow();
  free(end);
  end = NULL;
  hear(json_pack("{s:{s:i,s:{s:{s:[{s:s,s:s}]}}}}", "command", "agent", 0, "command", "submit",
                 "parts", "type", "text", "text", words[1]));
  follow();
  puts("");
  fclose(session_log);
  if (strcmp(end, "completed") == 0) return 0;
  fprintf(stderr, "weather: %s: %s\n", end, failure ? failure : "");
  return 1;
}
