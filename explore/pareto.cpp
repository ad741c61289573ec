#include "explore/pareto.h"

#include <algorithm>
#include <numeric>

namespace deputy::explore {
namespace {

bool dominates_or_equals(const Values& a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return true;
}

// By slices: between two neighbouring values of the last objective the dominated volume is the
// slice's height times the dominated volume, one objective less, of the points that reach as low.
double sliced(std::vector<Values> points, Values reference) {
  const std::size_t last = reference.size() - 1;
  if (last == 0) return reference[0] - std::ranges::min_element(points)->front();
  std::ranges::sort(points, {}, [&](const Values& p) { return p[last]; });
  const double top = reference[last];
  reference.pop_back();
  double volume = 0;
  std::vector<Values> reached;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double from = points[i][last], to = i + 1 < points.size() ? points[i + 1][last] : top;
    points[i].pop_back();
    if (std::ranges::none_of(reached,
                             [&](const Values& r) { return dominates_or_equals(r, points[i]); })) {
      std::erase_if(reached, [&](const Values& r) { return dominates_or_equals(points[i], r); });
      reached.push_back(points[i]);
    }
    if (to > from) volume += (to - from) * sliced(reached, reference);
  }
  return volume;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<Values>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t i) { return points[i].empty(); });
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const Values& { return points[i]; });
  // Whatever dominates a point comes before it in this order.
  std::vector<std::size_t> front;
  for (const std::size_t i : order)
    if (std::ranges::none_of(
            front, [&](std::size_t f) { return dominates_or_equals(points[f], points[i]); }))
      front.push_back(i);
  return front;
}

double hypervolume(std::vector<Values> points, const Values& reference) {
  std::erase_if(points, [&](const Values& p) {
    if (p.size() != reference.size()) return true;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (!(p[i] < reference[i])) return true;
    return false;
  });
  return points.empty() || reference.empty() ? 0 : sliced(std::move(points), reference);
}

}  // namespace deputy::explore
