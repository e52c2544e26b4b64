// place_cpp SCHEME NODE... < KEYS: where keys live under a scheme, and what one more node would move.
#include <slipring/placement/plan_moves.h>

#include <iostream>

int main(int argc, char** argv) {
  std::vector<slipring::Member> members;
  for (int i = 2; i < argc; ++i) members.push_back({.name = argv[i]});
  const auto scheme = slipring::make_scheme({.name = argv[1]}, members);
  if (!scheme) return std::cerr << scheme.error().message << "\n", 1;
  for (std::string key; std::getline(std::cin, key);) {
    std::cout << key << '\t' << members[(*scheme)->owner(key)].name << '\n';
  }
  auto more = members;
  more.push_back({.name = "one-more"});
  const auto grown = *slipring::make_scheme({.name = argv[1]}, more);
  std::cerr << "one more node moves " << slipring::plan_moves({**scheme, members}, {*grown, more}).moved_share << "\n";
}
