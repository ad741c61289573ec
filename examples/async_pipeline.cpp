// Frames in flight: the host prepares beat n+1 while the NPU computes beat n.
// async_pipeline ECG_FOLDER (workloads/ecg)
#include "deputy/session.h"
#include "deputy/simulate.h"
#include "support.h"

using namespace deputy;

namespace {

constexpr std::size_t kBeats = 12;

// Stands for a band-pass filter over the window: 128 taps a sample. The port charges the time to
// the CPU.
Bytes prepare(HwPort& port, const Bytes& beats, std::size_t index, std::size_t bytes) {
  port.charge(CpuKernel::kMacInt8, bytes * 128, {});
  return npy_row(beats, index, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string ecg = argc > 1 ? argv[1] : "workloads/ecg";
  const Bytes tflite = read_file(ecg + "/ecg_beats.tflite");
  const Bytes beats = read_file(ecg + "/heldout_x.npy"),
              golden = read_file(ecg + "/golden/heldout_tflite.npy");

  const auto program = [&](HwPort& port, const Target& target) -> base::Status {
    DEPUTY_ASSIGN(const Model model,
                  Model::compile(target, tflite, "ecg_beats", {.engine = EnginePolicy::kNpu}));
    DEPUTY_ASSIGN(const Device device, Device::open(port));
    std::uint64_t took[2] = {};
    for (const int frames : {1, 2}) {
      DEPUTY_ASSIGN(
          const Session session,
          Session::load(device, model, {.context = {}, .frames = frames, .input_shapes = {}}));
      const std::size_t in_flight = static_cast<std::size_t>(frames),
                        bytes = session.inputs()[0].bytes;
      std::vector<Fence> fences(in_flight);
      const std::uint64_t start = device.now_ps();
      for (std::size_t n = 0; n < kBeats + in_flight; ++n) {
        const std::size_t slot = n % in_flight;
        DEPUTY_ASSIGN(const Frame frame, session.frame(static_cast<int>(slot)));
        if (n >= in_flight) {
          DEPUTY_TRY(fences[slot].wait());
          DEPUTY_ASSIGN(const Buffer result, frame.output(0));
          DEPUTY_ASSIGN(const Bytes scores, result.read());
          DEPUTY_TRY(require(scores == npy_row(golden, n - in_flight, scores.size()),
                             "the scores are not the expected ones"));
        }
        if (n >= kBeats) continue;
        DEPUTY_ASSIGN(const Buffer to, frame.input(0));
        // With two frames, the other one's inference is running meanwhile.
        DEPUTY_TRY(to.write(prepare(port, beats, n, bytes)));
        DEPUTY_ASSIGN(fences[slot], frame.submit());
      }
      took[frames - 1] = device.now_ps() - start;
      std::printf("%d frame%s in flight: %.1f us a beat\n", frames, frames == 1 ? "" : "s",
                  us(took[frames - 1]) / static_cast<double>(kBeats));
    }
    std::printf("%zu beats, all scores as expected\n", kBeats);
    return require(took[1] < took[0],
                   "preparing a beat does not overlap the inference of the one before");
  };
  const auto report = simulate("wearable", {}, program);
  if (!report.ok()) return finish(report.error());
}
