#include "tools/stream/image_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dsp_kernels/tables.h"
#include "workloads/random.h"

namespace deputy::tools {
namespace {

using host_runtime::Buffer;
using host_runtime::DspTask;

constexpr std::uint32_t kChannels = 3, kOut = 96, kOutRow = kOut * kChannels,
                        kBlocks = (kOutRow + 63) / 64, kBand = 12, kTableBytes = 2 * 64 * kBlocks;

/// The sensor's image, and the part of it that the network sees. Its rows are a whole multiple of
/// kOut, so that all rows of the result lie alike between two of them.
struct Geometry {
  std::uint32_t width = 0, height = 0, x = 0, y = 0, columns = 0, rows = 0;
  double per_second = 0;
  std::uint32_t row() const { return width * kChannels; }
  std::uint32_t ratio() const { return rows / kOut; }
  FrameShape shape() const { return {row() * height, 1, per_second}; }
};
constexpr Geometry kCapsule = {320, 320, 16, 16, 288, 288, 4};
constexpr Geometry kCamera = {640, 480, 0, 0, 640, 480, 30};
static_assert(kCapsule.rows % kOut == 0 && kCamera.rows % kOut == 0 && kOut % kBand == 0);

class ImageChain final : public FrameChain {
 public:
  explicit ImageChain(const Geometry& geometry) : g_(geometry) {}

 private:
  base::Status set_up() override {
    auto [offsets, fractions] = dsp_kernels::sampling(g_.columns, kOut, g_.x, kChannels);
    offsets.resize(64 * kBlocks), fractions.resize(64 * kBlocks);
    std::vector<std::uint8_t> tables(2 * kTableBytes);
    std::memcpy(tables.data(), offsets.data(), kTableBytes);
    std::memcpy(tables.data() + kTableBytes, fractions.data(), kTableBytes);
    DEPUTY_TRY(make(tables_, tables.size()));
    DEPUTY_TRY(tables_.write(tables));
    for (Buffer& image : image_) DEPUTY_TRY(make(image, kOut * kOutRow));
    DEPUTY_ASSIGN(entry_, p_.firmware->entry("shrink"));
    return {};
  }
  std::uint64_t input_bytes() const override { return kOut * kOutRow; }
  base::Status restart() override { return {}; }
  const Buffer* take() override {
    turn_ = !turn_;
    return &image_[turn_];
  }

  // A band: pairs of the image's rows, one pair a row of the result.
  DspTask task(const Buffer& raw) override {
    using Kind = arch::DspCommandKind;
    const std::uint32_t pair = 2 * g_.row(), tables = (kBand * pair + 127) / 128 * 128,
                        out = tables + 2 * kTableBytes, half_up = g_.ratio() % 2 ? 0 : 16384;
    DspTask t;
    t.firmware = p_.firmware;
    t.regions = {{raw, true, false}, {tables_, true, false}, {image_[!turn_], false, true}};
    t.load(2, 0, tables, 2 * kTableBytes);
    for (std::uint32_t row = 0; row < kOut; row += kBand) {
      const std::uint32_t first = g_.y + row * g_.ratio() + (g_.ratio() - 1) / 2;
      t.commands.push_back(transfer_rows(Kind::kLoad, 1, {first * g_.row(), g_.ratio() * g_.row()},
                                         {0, pair}, pair, kBand));
      const std::uint32_t arguments[] = {
          0, tables, tables + kTableBytes, out, half_up, kBand, kBlocks, g_.row()};
      t.run(entry_, arguments);
      t.commands.push_back(transfer_rows(Kind::kStore, 3, {row * kOutRow, kOutRow},
                                         {out, 64 * kBlocks}, kOutRow, kBand));
    }
    return t;
  }

  Geometry g_;
  Buffer tables_, image_[2];
  std::uint32_t entry_ = 0;
  std::size_t turn_ = 0;
};

// Folds of tissue: waves that wander, redder towards the rim, a little noise.
StreamSignal scene(const StreamScenario& scenario, const Geometry& g) {
  workloads::Random random(static_cast<std::uint64_t>(scenario.source.seed));
  StreamSignal out;
  const auto frames = static_cast<std::size_t>(scenario.source.seconds * g.per_second);
  std::vector<std::uint8_t> waves(1024);
  for (std::size_t i = 0; i < waves.size(); ++i)
    waves[i] = static_cast<std::uint8_t>(
        std::lrint(127 + 100 * std::sin(static_cast<double>(i) * 2 * 3.14159265358979 / 1024)));
  for (std::size_t f = 0; f < frames; ++f) {
    std::vector<std::uint8_t> image;
    image.reserve(g.row() * g.height);
    for (std::uint32_t y = 0; y < g.height; ++y)
      for (std::uint32_t x = 0; x < g.width; ++x) {
        const std::uint64_t noise = (x + y) % 4 ? 0 : random.bits() >> 61;
        const std::uint32_t wave = (waves[(3 * x + 5 * y + 40 * f) % 1024] +
                                    waves[(7 * x + 1024 * 8 - 2 * y + 23 * f) % 1024]) /
                                   2;
        for (const std::uint32_t tint : {255u, 150u, 120u})
          image.push_back(
              static_cast<std::uint8_t>(std::min<std::uint64_t>(255, wave * tint / 255 + noise)));
      }
    out.frames.push_back(std::move(image));
  }
  return out;
}

const std::vector<dsp_kernels::KernelUse> kKernels = {
    {"shrink", "shrink", {{"CHANNELS", kChannels}}}};

}  // namespace

const ChainInfo& capsule_chain() {
  static const ChainInfo info = {
      .name = "capsule",
      .doc = "320 x 320 RGB bytes at 4 images a second; its inner part sampled to 96 x 96",
      .shape = kCapsule.shape(),
      .classes = {},
      .kernels = kKernels,
      .tolerance_s = 0.125,
      .signal = [](const StreamScenario& s) -> base::Result<StreamSignal> {
        return scene(s, kCapsule);
      },
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<ImageChain>(kCapsule); }};
  return info;
}

const ChainInfo& camera_chain() {
  static const ChainInfo info = {
      .name = "camera",
      .doc = "640 x 480 RGB bytes at 30 images a second, sampled to 96 x 96",
      .shape = kCamera.shape(),
      .classes = {},
      .kernels = kKernels,
      .tolerance_s = 0.016,
      .signal = [](const StreamScenario& s) -> base::Result<StreamSignal> {
        return scene(s, kCamera);
      },
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<ImageChain>(kCamera); }};
  return info;
}

}  // namespace deputy::tools
