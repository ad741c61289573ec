#include "explore/sample.h"

#include <algorithm>
#include <random>
#include <set>

namespace deputy::explore {
namespace {

// Spelled out, because the standard's distributions differ between libraries.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}
  double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) {
    return std::min(static_cast<std::size_t>(unit() * static_cast<double>(n)), n - 1);
  }

 private:
  std::mt19937_64 bits_;
};

/// Takes a point that is allowed and new.
base::Result<bool> take(const Space& space, const Genes& genes, std::set<std::string>& seen) {
  DEPUTY_ASSIGN(const Point point, space.point(genes));
  DEPUTY_ASSIGN(const bool allowed, space.allowed(point));
  return allowed && seen.insert(point.id()).second;
}

}  // namespace

base::Result<std::vector<Genes>> draw_random(const Space& space, std::size_t count,
                                             std::uint64_t seed) {
  constexpr int kPatience = 1000;
  Draw draw(seed);
  std::vector<Genes> out;
  std::set<std::string> seen;
  for (int missed = 0; out.size() < count && missed < kPatience;) {
    Genes genes(space.parameters.size());
    for (double& gene : genes) gene = draw.unit();
    DEPUTY_ASSIGN(const bool taken, take(space, genes, seen));
    missed = taken ? 0 : missed + 1;
    if (taken) out.push_back(std::move(genes));
  }
  return out;
}

base::Result<std::vector<Genes>> draw_latin(const Space& space, std::size_t count,
                                            std::uint64_t seed) {
  Draw draw(seed);
  std::vector<Genes> all(count, Genes(space.parameters.size()));
  for (std::size_t p = 0; p < space.parameters.size(); ++p) {
    std::vector<std::size_t> parts(count);
    for (std::size_t i = 0; i < count; ++i) parts[i] = i;
    for (std::size_t i = count; i > 1; --i) std::swap(parts[i - 1], parts[draw.below(i)]);
    for (std::size_t i = 0; i < count; ++i)
      all[i][p] = (static_cast<double>(parts[i]) + draw.unit()) / static_cast<double>(count);
  }
  std::vector<Genes> out;
  std::set<std::string> seen;
  for (Genes& genes : all) {
    DEPUTY_ASSIGN(const bool taken, take(space, genes, seen));
    if (taken) out.push_back(std::move(genes));
  }
  return out;
}

}  // namespace deputy::explore
