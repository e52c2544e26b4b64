#include "slipring/lab/sim/link.h"

#include <algorithm>
#include <utility>

namespace slipring::lab {

Link::Link(LinkEnd& router, LinkEnd& controller)
    : ends_{&controller, &router}, incarnations_{controller.incarnation(), router.incarnation()} {}

void Link::send(size_t direction, channel::Message message) {
  if (!open_) return;
  World& world = ends_[0]->world;
  // Now and then a segment is lost and sent again.
  const int64_t resend = world.random.below(100) < 2 ? 200'000 + static_cast<int64_t>(world.random.below(400'000)) : 0;
  const int64_t at = world.now_us() + world.delay_us() + resend + extra_us[direction];
  last_us_[direction] = std::max(last_us_[direction] + 1, at);
  world.at_us(last_us_[direction], [self = shared_from_this(), direction, message = std::move(message)] {
    if (!self->open_) return;
    LinkEnd& end = *self->ends_[direction];
    end.run(self->incarnations_[direction], [self, &end, message] {
      if (self->open_) end.on_message(self, message);
    });
  });
}

void Link::cut() {
  if (!std::exchange(open_, false)) return;
  for (size_t i = 0; i < 2; ++i) {
    World& world = ends_[i]->world;
    world.after_us(world.delay_us(), [self = shared_from_this(), i] {
      self->ends_[i]->run(self->incarnations_[i], [self, i] { self->ends_[i]->on_link_down(self); });
    });
  }
}

}  // namespace slipring::lab
