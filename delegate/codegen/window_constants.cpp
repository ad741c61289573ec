#include "delegate/codegen/window_constants.h"

#include <algorithm>

#include "delegate/ops/operands.h"
#include "delegate/weights/weight_encoder.h"

namespace deputy::delegate {
namespace {

// A tensor is worth the trouble of tables and commands when it shrinks by so much.
constexpr double kWorthwhile = 0.98;
constexpr std::int64_t kLanePadding = 12;  // bytes that the lanes of one block leave unused, about

double u8_size(std::uint64_t bits) { return static_cast<double>(bits) / 8; }

}  // namespace

WindowConstants::WindowConstants(Lowering& context, TensorId weights,
                                 std::vector<std::uint8_t> params, const WindowShape& shape)
    : context_(context),
      id_(weights),
      data_(signed_bytes(context.tensor(weights))),
      params_(std::move(params)),
      s_(shape) {
  if (!context.options.optimisations.compression) return;
  const auto [it, missing] = context.codes.try_emplace(weights);
  if (missing) it->second = fit_code(data_);
  const FittedCode& fitted = it->second;
  code_ = fitted.lengths;
  const auto table = arch::pack_table(code_);
  table_ = encode_block(table, arch::fixed_code());
  const double packed = u8_size(fitted.bits) + static_cast<double>(table_.size()) + kLanePadding;
  if (packed < kWorthwhile * static_cast<double>(data_.size())) weights_bits_ = fitted.bits;
  const double plain = static_cast<double>(params_.size());
  params_ratio_ = static_cast<double>(encode_block(split_planes(params_, arch::kChannelParamBytes),
                                                   arch::fixed_code())
                                          .size()) /
                  plain;
  if (params_ratio_ > kWorthwhile) params_ratio_ = 1;
}

TransferRates WindowConstants::rates(TransferRates raw, bool packed) const {
  const double bus = raw.weights_per_byte,
               decoder = 1.0 / context_.options.npu.wdec.bytes_per_cycle;
  raw.params_per_byte = bus;
  if (params_ratio_ < 1) raw.params_per_byte = std::max(bus * params_ratio_, decoder);
  if (packed)
    raw.weights_per_byte =
        std::max(bus * u8_size(weights_bits_) / static_cast<double>(data_.size()), decoder);
  return raw;
}

bool WindowConstants::pack(const WindowShape& packed, const Tiling& tiling,
                           const TransferRates& raw) {
  const double decoder = 1.0 / context_.options.npu.wdec.bytes_per_cycle;
  double plain_bytes = 0, plain_cycles = 0;
  double packed_bytes = static_cast<double>(table_.size());
  double packed_cycles = packed_bytes * raw.weights_per_byte + raw.weights_setup + raw.command;
  blocks_.clear();
  walk(packed, tiling, [&](const WindowStep& step) {
    if (!step.load_weights) return;
    const auto [it, missing] = blocks_.try_emplace({step.o0, step.c0});
    const Bytes plain = missing ? block(step) : Bytes();
    if (missing) it->second = encode_block(plain, code_);
    const std::int64_t outputs = step.o1 - step.o0, channels = step.c1 - step.c0;
    const auto bytes = static_cast<double>(outputs * s_.kh * s_.kw *
                                           (s_.kind == WindowKind::kConv ? channels : 1));
    const auto stream = static_cast<double>(it->second.size());
    plain_bytes += bytes, packed_bytes += stream;
    plain_cycles += bytes * raw.weights_per_byte;
    packed_cycles += std::max(stream * raw.weights_per_byte, bytes * decoder);
  });
  packed_ = packed_bytes < plain_bytes && packed_cycles < plain_cycles;
  if (!packed_) blocks_.clear();
  return packed_;
}

// A step's weights as they lie in the scratchpad: OHWI, or HWC of the step's channels.
WindowConstants::Bytes WindowConstants::block(const WindowStep& step) const {
  const std::int64_t taps = s_.kh * s_.kw;
  const bool conv = s_.kind == WindowKind::kConv;
  const std::int64_t rows = conv ? (step.o1 - step.o0) * taps : taps;
  const std::int64_t row = conv ? step.c1 - step.c0 : step.o1 - step.o0;
  const std::int64_t stride = conv ? s_.ic : s_.oc;
  std::int64_t from = conv ? step.o0 * taps * s_.ic + step.c0 : step.o0;
  Bytes out;
  out.reserve(static_cast<std::size_t>(rows * row));
  for (std::int64_t r = 0; r < rows; ++r, from += stride)
    out.insert(out.end(), data_.begin() + from, data_.begin() + from + row);
  return out;
}

WindowConstants::Stream WindowConstants::store(const Bytes& bytes) {
  return {{arch::Region::kConstants, context_.constants.add(bytes)},
          static_cast<std::int64_t>(bytes.size())};
}

void WindowConstants::emit(const Stream& stream, std::uint32_t spm, std::int64_t bytes,
                           std::int64_t planes, bool fixed_code, arch::Traffic traffic) {
  arch::LoadWeights load;
  load.mem_offset = stream.at.offset;
  load.stream_bytes = static_cast<std::uint32_t>(stream.bytes);
  load.spm_addr = spm;
  load.region = static_cast<std::uint32_t>(stream.at.region);
  load.traffic = static_cast<std::uint32_t>(traffic);
  load.bytes = static_cast<std::uint32_t>(bytes);
  load.planes = static_cast<std::uint32_t>(planes);
  load.fixed_code = fixed_code;
  if (!fixed_code) load.table_addr = table_spm_;
  context_.program.emit(load);
}

void WindowConstants::load_table(std::uint32_t spm) {
  table_spm_ = spm;
  emit(store(table_), spm, arch::kCodeTableBytes, 1, true, arch::Traffic::kParams);
}

void WindowConstants::load_weights(const WindowStep& step, std::uint32_t spm) {
  const std::int64_t taps = s_.kh * s_.kw, outputs = step.o1 - step.o0;
  const std::int64_t channels = step.c1 - step.c0;
  if (packed_) {
    const auto [it, missing] = stored_.try_emplace({step.o0, step.c0});
    if (missing) it->second = store(blocks_.at(it->first));
    emit(it->second, spm, outputs * taps * (s_.kind == WindowKind::kConv ? channels : 1), 1, false,
         arch::Traffic::kWeights);
    return;
  }
  const MemoryRef weights = is_u8(context_.tensor(id_))
                                ? MemoryRef{arch::Region::kConstants, context_.constants.add(data_)}
                                : context_.memory(id_);
  if (s_.kind == WindowKind::kConv)  // OHWI
    context_.program.load(shifted(weights, step.o0 * taps * s_.ic + step.c0), spm,
                          Box::dense(outputs, taps, channels, taps * s_.ic, s_.ic),
                          arch::Traffic::kWeights);
  else  // HWC
    context_.program.load(shifted(weights, step.o0), spm, Box::dense(1, taps, outputs, 0, s_.oc),
                          arch::Traffic::kWeights);
}

void WindowConstants::load_params(const WindowStep& step, std::uint32_t spm) {
  const std::int64_t first = step.o0 * arch::kChannelParamBytes,
                     bytes = (step.o1 - step.o0) * arch::kChannelParamBytes;
  if (params_ratio_ < 1) {
    const auto [it, missing] = stored_params_.try_emplace({step.o0, step.o1});
    if (missing) {
      const auto records = std::span(params_).subspan(static_cast<std::size_t>(first),
                                                      static_cast<std::size_t>(bytes));
      const Bytes stream =
          encode_block(split_planes(records, arch::kChannelParamBytes), arch::fixed_code());
      if (stream.size() < records.size()) it->second = store(stream);
    }
    if (it->second.bytes != 0)
      return emit(it->second, spm, bytes, arch::kChannelParamBytes, true, arch::Traffic::kParams);
  }
  const MemoryRef params{arch::Region::kConstants, context_.constants.add(params_)};
  context_.program.load(shifted(params, first), spm, Box::bytes(bytes), arch::Traffic::kParams);
}

}  // namespace deputy::delegate
