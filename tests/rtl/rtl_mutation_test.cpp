// The comparisons of rtl_random_test can fail: the RTL is given each instruction with one field
// changed, and for every field of every instruction some change must show in the scratchpad or in
// the accumulators. So no field is ignored by the RTL, and none by the tests.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "arch/bitpack.h"
#include "arch/instruction_check.h"
#include "npu_model/rtl/rtl_core.h"
#include "tests/npu_core/oracle.h"
#include "tests/npu_core/random_ops.h"
#include "tests/rtl/shapes.h"

namespace deputy::npu_test {
namespace {

/// The names of T's fields whose change never showed, over up to `tries` instructions that `make`
/// makes.
template <class T, class Make>
std::string unseen_fields(int tries, Make&& make) {
  const arch::NpuConfig config = rtl_shapes()[1];  // the small one: quick
  const auto rtl = npu_model::make_rtl_core(config);
  std::set<std::string> unseen;
  T value{};
  T::fields(value, [&](auto&, const base::Field& f) { unseen.insert(f.name); });
  for (int n = 0; n < tries && !unseen.empty(); ++n) {
    Random random(90000 + static_cast<std::uint64_t>(n));
    Oracle oracle{std::vector<std::uint8_t>(static_cast<std::size_t>(config.spm.bytes)),
                  std::vector<std::int32_t>(static_cast<std::size_t>(config.mac.accumulators))};
    for (auto& b : oracle.spm) b = static_cast<std::uint8_t>(random.byte());
    const T op = make(random, oracle.spm);
    const std::vector<std::uint8_t> before = oracle.spm;
    oracle.execute(op);
    for (const std::string& name : std::set<std::string>(unseen)) {
      T mutant = op;
      T::fields(mutant, [&](auto& member, const base::Field& f) {
        if (f.name != name) return;
        if (f.bits == 32) {  // multipliers and scales: more than the last place
          member ^= 1 << random.range(16, 29);
          return;
        }
        const auto changed = static_cast<double>(member) + (random.chance(70) ? 1 : -1);
        if (changed >= arch::field_low(f) && changed <= arch::field_high(f))
          member = static_cast<std::remove_reference_t<decltype(member)>>(changed);
      });
      if (arch::check_instruction(mutant, config) != arch::NpuError::kNone) continue;
      rtl->reset();
      std::ranges::copy(before, rtl->spm().begin());
      rtl->execute(mutant);
      if (!std::ranges::equal(rtl->spm(), oracle.spm) ||
          !std::ranges::equal(rtl->accumulators(), oracle.accumulators))
        unseen.erase(name);
    }
  }
  std::string out;
  for (const std::string& name : unseen) out += name + " ";
  return out;
}

}  // namespace

TEST_CASE("RTL: a change of any field of an instruction shows") {
  // A sum that is held or kept: tiles small enough for the accumulators.
  CHECK(unseen_fields<arch::Conv>(300, [](Random& r, auto& spm) {
          arch::Conv c;
          do c = random_conv(r, spm);
          while (c.ofm_h * c.ofm_w * c.ofm_c > 200);
          return c;
        }) == "");
  CHECK(unseen_fields<arch::Depthwise>(300, [](Random& r, auto& spm) {
          arch::Depthwise d = random_depthwise(r, spm);
          return d;
        }) == "depth_mult ifm_c ofm_c ");  // each alone contradicts the others, and is refused
  CHECK(unseen_fields<arch::Pool>(300, [](Random& r, auto& spm) { return random_pool(r, spm); }) ==
        "");
  CHECK(unseen_fields<arch::Eltwise>(
            600, [](Random& r, auto& spm) { return random_eltwise(r, spm); }) == "");
  CHECK(unseen_fields<arch::Softmax>(
            600, [](Random& r, auto& spm) { return random_softmax(r, spm); }) == "");
}

}  // namespace deputy::npu_test
