// A sensor's frames reach the NPU with no copy by the CPU: the DMA engine brings them into buffers
// that are bound as inputs, and fences chain DMA and NPU. Two buffers take turns. zero_copy_camera
// ECG_FOLDER (workloads/ecg)
#include <algorithm>

#include "deputy/session.h"
#include "deputy/simulate.h"
#include "support.h"

using namespace deputy;

namespace {

constexpr std::size_t kFrames = 8, kSlots = 2;

// The sensor's own memory, which Deputy did not allocate: all its frames, one behind the other.
struct Sensor {
  Sensor(HwPort& p, const SharedMemory& m) : port(p), memory(m) {}
  ~Sensor() { port.free(memory); }
  HwPort& port;
  SharedMemory memory;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string ecg = argc > 1 ? argv[1] : "workloads/ecg";
  const Bytes tflite = read_file(ecg + "/ecg_beats.tflite");
  const Bytes beats = read_file(ecg + "/heldout_x.npy"),
              golden = read_file(ecg + "/golden/heldout_tflite.npy");

  const auto program = [&](HwPort& port, const Target& target) -> base::Status {
    ModelOptions options;
    options.engine = EnginePolicy::kNpu;
    options.io = IoPlacement::kDram;  // inputs and outputs that can be bound
    DEPUTY_ASSIGN(const Model model, Model::compile(target, tflite, "ecg_beats", options));
    const std::size_t bytes = model.inputs()[0].bytes;

    DEPUTY_ASSIGN(const SharedMemory memory, port.alloc(MemoryKind::kDram, kFrames * bytes, 64));
    const Sensor sensor(port, memory);
    for (std::size_t n = 0; n < kFrames; ++n)
      std::ranges::copy(npy_row(beats, n, bytes), memory.host + n * bytes);
    port.clean(memory.address, memory.bytes);

    DEPUTY_ASSIGN(const Device device, Device::open(port));
    DEPUTY_ASSIGN(
        const Session session,
        Session::load(device, model, {.context = {}, .frames = kSlots, .input_shapes = {}}));
    DEPUTY_ASSIGN(const Buffer ring, Buffer::import(device, memory));
    DEPUTY_ASSIGN(const BufferRequirements wanted, session.input_requirements(0));
    std::vector<Buffer> inputs(kSlots);
    for (std::size_t s = 0; s < kSlots; ++s) {
      DEPUTY_ASSIGN(inputs[s], Buffer::create(device, wanted));
      DEPUTY_ASSIGN(const Frame frame, session.frame(static_cast<int>(s)));
      DEPUTY_TRY(frame.bind_input(0, inputs[s]));
    }

    std::vector<Fence> done(kSlots);
    std::size_t right = 0;
    for (std::size_t n = 0; n < kFrames + kSlots; ++n) {
      DEPUTY_ASSIGN(const Frame frame, session.frame(static_cast<int>(n % kSlots)));
      if (n >= kSlots) {
        DEPUTY_TRY(done[n % kSlots].wait());
        // Looking at five scores in place is no copy either.
        DEPUTY_ASSIGN(const Buffer scores, frame.output(0));
        DEPUTY_ASSIGN(const auto view, scores.map(Access::kRead));
        right += std::ranges::equal(view, npy_row(golden, n - kSlots, view.size()));
        scores.unmap();
      }
      if (n >= kFrames) continue;
      DEPUTY_ASSIGN(const Buffer picture, ring.view(n * bytes, bytes));
      DEPUTY_ASSIGN(const Fence arrived, device.copy(inputs[n % kSlots], picture));
      DEPUTY_ASSIGN(done[n % kSlots], frame.submit({.waits = {arrived}}));
    }
    std::printf("%zu of %zu frames have the expected scores\n", right, kFrames);
    std::printf("bytes copied by the CPU: %llu\n",
                static_cast<unsigned long long>(device.copied_bytes()));
    DEPUTY_TRY(require(right == kFrames, "a frame has other scores"));
    return require(device.copied_bytes() == 0, "the CPU copied");
  };
  const auto report = simulate("wearable", {}, program);
  if (!report.ok()) return finish(report.error());
  std::printf("%.1f us, %.2f uJ\n", us(report->end_ps), report->energy_nj / 1000);
}
