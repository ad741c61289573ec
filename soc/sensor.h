// A camera, an ECG front end or a microphone: frames at a rate, written into a ring of buffers in
// shared memory by a bus master of its own. Registers: arch/sensor_registers.h.
//
// Frame n goes to buffer n mod COUNT while HEAD - TAIL < COUNT. The bytes of a frame come in at the
// rate of the link, chunk by chunk, and HEAD moves when the last one is in memory. Its addresses
// are not translated: the device belongs to the driver, not to a context.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <vector>

#include "arch/register_file.h"
#include "arch/sensor_registers.h"
#include "sim/bus_initiator.h"
#include "soc/busy_log.h"
#include "soc/soc_config.h"
#include "soc/sync_unit.h"

namespace deputy::soc {

/// Samples in two's complement; frame n of a sensor is given[n mod size], filled up by repetition.
/// An empty one is not delivered: the source is silent for its period (which must not be 0 then).
using GivenFrames = std::vector<std::vector<std::uint8_t>>;

class Sensor : public sc_core::sc_module {
 public:
  /// `sync` must outlive this; `irq` is called with the level of the interrupt line. Without frames
  /// to give, contents follow from SEED. `functional` false: no bytes move.
  Sensor(sc_core::sc_module_name name, const SensorConfig& config, GivenFrames frames,
         SyncUnit& sync, bool functional, std::function<void(bool)> irq);

  tlm_utils::simple_target_socket<Sensor> registers;
  sim::BusInitiator writer;

  std::uint64_t frames() const { return ready_.size(); }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t missed() const { return missed_; }
  std::uint64_t frame_bytes_written() const { return frame_bytes_written_; }  ///< of whole frames
  bool clean() const { return clean_ && !writing_; }  ///< no frame is or was left unfinished
  /// When each frame was in memory, in ps.
  const std::vector<std::uint64_t>& ready() const { return ready_; }
  const BusyLog& busy() const { return busy_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write(std::uint32_t offset, std::uint32_t value);
  void thread();
  /// False when it was cut short.
  bool write_frame(std::uint64_t address);
  void fill(std::vector<std::uint8_t>& out, std::uint64_t offset, std::uint32_t bytes) const;
  void miss();
  void frame_done();
  void raise(std::uint32_t bits);
  bool running() const { return (file_.get(arch::sensor_reg::kCtrl) & 1) != 0; }
  std::uint32_t waiting() const {
    return file_.get(arch::sensor_reg::kHead) - file_.get(arch::sensor_reg::kTail);
  }

  SensorConfig config_;
  GivenFrames given_;
  SyncUnit& sync_;
  bool functional_;
  std::function<void(bool)> irq_;
  arch::RegisterFile file_;
  sc_core::sc_event changed_;
  std::uint64_t epoch_ = 0;     ///< bumped by RESET
  std::uint64_t sequence_ = 0;  ///< of the scene: frames written and dropped
  std::uint64_t dropped_ = 0, missed_ = 0, frame_bytes_written_ = 0;
  bool clean_ = true, writing_ = false;
  std::vector<std::uint64_t> ready_;
  BusyLog busy_;
};

}  // namespace deputy::soc
