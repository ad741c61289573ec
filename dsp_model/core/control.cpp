// Control registers: mail, events, the DMA channel, interrupts.
#include "dsp_model/core/core.h"

namespace deputy::dsp_model {

using arch::DspControl, arch::DspOp, arch::DspOpcode;

void DspCore::do_control(const DspOp& op) {
  switch (op.code) {
    case DspOpcode::kSMtc:
      write_control(static_cast<DspControl>(op.imm), m_.x.r[op.d]);
      break;
    case DspOpcode::kSMfc: {
      const std::uint32_t value = read_control(static_cast<DspControl>(op.imm));
      if (op.d) m_.x.r[op.d] = value;
      break;
    }
    case DspOpcode::kSHalt:
      halt_ = true;
      break;
    case DspOpcode::kSRti:
      m_.next = control(DspControl::kReturn), m_.taken = true;
      write_control(DspControl::kInterrupts, 1);
      break;
    default:
      break;  // wait: nothing more to do; trap never gets here
  }
}

std::uint32_t DspCore::read_control(DspControl which) {
  switch (which) {
    case DspControl::kMailIn: {
      if (mail_in_.empty()) return 0;
      const std::uint32_t word = mail_in_.front();
      mail_in_.pop_front();
      return word;
    }
    case DspControl::kMailWaiting:
      return static_cast<std::uint32_t>(mail_in_.size());
    case DspControl::kMailRoom:
      return static_cast<std::uint32_t>(config_.mailbox_depth) -
             static_cast<std::uint32_t>(mail_out_.size());
    case DspControl::kCycle:
      return static_cast<std::uint32_t>(stats_.cycles);
    default:
      return control(which);
  }
}

void DspCore::write_control(DspControl which, std::uint32_t value) {
  std::uint32_t& reg = m_.control[static_cast<std::size_t>(which)];
  switch (which) {
    case DspControl::kPending:
      reg &= ~value;
      break;
    case DspControl::kEnable:
      reg = value & arch::kDspEvents;
      break;
    case DspControl::kInterrupts:
      reg = value & 1;
      break;
    case DspControl::kDmaMemHigh:
      reg = value & 0xFF;
      break;
    case DspControl::kMailOut:
      mail_out_.push_back(value), signal_ = true;
      break;
    case DspControl::kHostInterrupt:
      host_interrupts_ |= 1u << (value & 31), signal_ = true;
      break;
    case DspControl::kDmaStart:
      dma_ = DspDmaRequest{
          value == 2,
          std::uint64_t{control(DspControl::kDmaMemHigh)} << 32 | control(DspControl::kDmaMemLow),
          control(DspControl::kDmaTcm),
          control(DspControl::kDmaRowBytes),
          control(DspControl::kDmaRows),
          control(DspControl::kDmaMemStride),
          control(DspControl::kDmaTcmStride)};
      m_.control[static_cast<std::size_t>(DspControl::kDmaStatus)] = 1;
      dma_busy_ = true, dma_since_ = stats_.cycles, signal_ = true;
      break;
    default:
      reg = value;
  }
  may_interrupt_ = (control(DspControl::kInterrupts) & 1) &&
                   (control(DspControl::kPending) & control(DspControl::kEnable));
}

bool DspCore::post(std::uint32_t word) {
  if (mail_in_.size() >= static_cast<std::size_t>(config_.mailbox_depth)) return false;
  mail_in_.push_back(word);
  raise(arch::kDspEventMail);
  return true;
}
std::optional<std::uint32_t> DspCore::collect() {
  if (mail_out_.empty()) return std::nullopt;
  const std::uint32_t word = mail_out_.front();
  mail_out_.pop_front();
  return word;
}
void DspCore::raise(std::uint32_t events) {
  m_.control[static_cast<std::size_t>(DspControl::kPending)] |= events & arch::kDspEvents;
  may_interrupt_ = (control(DspControl::kInterrupts) & 1) &&
                   (control(DspControl::kPending) & control(DspControl::kEnable));
}
std::uint32_t DspCore::take_host_interrupts() {
  const std::uint32_t out = host_interrupts_;
  host_interrupts_ = 0;
  return out;
}
std::optional<DspDmaRequest> DspCore::take_dma() {
  auto out = dma_;
  dma_.reset();
  return out;
}
void DspCore::dma_done(bool good) {
  m_.control[static_cast<std::size_t>(DspControl::kDmaStatus)] = good ? 0 : 2;
  dma_busy_ = false;
  raise(arch::kDspEventDma);
}

}  // namespace deputy::dsp_model
