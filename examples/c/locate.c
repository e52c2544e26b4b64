/* locate_c SNAPSHOT < KEYS: the node and the range of every key, from the snapshot that a router keeps. */
#include <slipring/capi/slipring.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  slipring_snapshot *snapshot;
  slipring_location where;
  char key[512], point[128], range[128];
  if (argc != 2 || slipring_snapshot_open(argv[1], &snapshot) != SLIPRING_OK) return puts(slipring_last_error()), 1;
  while (fgets(key, sizeof key, stdin)) {
    const size_t n = strcspn(key, "\n");
    if (slipring_snapshot_locate(snapshot, 0, key, n, &where) != SLIPRING_OK) return puts(slipring_last_error()), 1;
    slipring_snapshot_explain(snapshot, 0, key, n, point, sizeof point, range, sizeof range);
    printf("%.*s\t%s\t%s\n", (int)n, key, where.node, range);
  }
  slipring_snapshot_close(snapshot);
  return 0;
}
