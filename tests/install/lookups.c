/* lookups COUNT: so many look-ups in one placement; prints a digest of the owners. */
#include <slipring/capi/slipring.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  const slipring_member members[] = {{"n1", 0, 0, 1000, 0}, {"n2", 0, 0, 1000, 0}, {"n3", 0, 0, 2500, 0}};
  slipring_placement *placement;
  const long count = argc > 1 ? atol(argv[1]) : 0;
  uint32_t digest = 0;
  if (slipring_placement_new("ring", 0, members, 3, &placement) != SLIPRING_OK) return puts(slipring_last_error()), 1;
  for (long i = 0; i < count; ++i) {
    char key[32];
    const int bytes = snprintf(key, sizeof key, "key:%ld", i);
    digest = digest * 31 + slipring_placement_owner(placement, key, (size_t)bytes);
  }
  slipring_placement_free(placement);
  printf("%u\n", digest);
  return 0;
}
