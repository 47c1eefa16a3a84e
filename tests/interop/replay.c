// Replays a corpus of logs in the C that wasm2c makes of the core: `replay FOLDER`. Prints a log's
// name and the digest of its outputs a line.

#include <glob.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

static const char REQUEST[] = "{\"replay\":null}\n", END[] = ".log.jsonl";
static Z_innerloop_instance_t core;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "replay: %s\n", what);
  exit(1);
}

static void replay(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail(path);
  size_t head = strlen(REQUEST), length = (size_t)ftell(file);
  rewind(file);
  u32 room = Z_innerloopZ_innerloop_room(&core, head + length);
  if (room == 0) fail("there is no memory left");
  u8 *at = Z_innerloopZ_memory(&core)->data + room;
  memcpy(at, REQUEST, head);
  if (fread(at + head, 1, length, file) != length) fail(path);
  fclose(file);
  u64 answer = Z_innerloopZ_innerloop_call(&core, head + length);

  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(Z_innerloopZ_memory(&core)->data + (answer >> 32), (u32)answer, digest);
  const char *name = strrchr(path, '/') + 1;
  printf("%.*s ", (int)(strlen(name) - strlen(END)), name);
  for (size_t byte = 0; byte < sizeof digest; byte++) printf("%02x", digest[byte]);
  puts("");
}

int main(int count, char **words) {
  char pattern[4096];
  if (count != 2) fail("name the folder of the logs");
  if (snprintf(pattern, sizeof pattern, "%s/*%s", words[1], END) >= (int)sizeof pattern)
    fail("the folder's name is too long");
  wasm_rt_init();
  Z_innerloop_init_module();
  Z_innerloop_instantiate(&core);
  glob_t logs;
  if (glob(pattern, 0, NULL, &logs) != 0) fail("there are no logs");
  for (size_t log = 0; log < logs.gl_pathc; log++) replay(logs.gl_pathv[log]);
  globfree(&logs);
  return 0;
}
