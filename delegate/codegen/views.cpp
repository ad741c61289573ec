#include "delegate/codegen/views.h"

#include "base/check.h"

namespace deputy::delegate {

TensorView dense_view(const arch::TensorDesc& desc, MemoryRef at) {
  TensorView view{at, std::vector<std::int64_t>(desc.shape.size()), 0, true};
  auto stride = static_cast<std::int64_t>(dtype_size(desc.dtype));
  for (std::size_t i = desc.shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride *= desc.shape[i];
  }
  return view;
}

bool is_dense(const TensorView& view, const arch::TensorDesc& desc) {
  const TensorView dense = dense_view(desc, view.at);
  if (view.ring != 0) return false;
  for (std::size_t i = 0; i < desc.shape.size(); ++i)
    if (desc.shape[i] != 1 && view.strides[i] != dense.strides[i]) return false;
  return true;
}

MapView map_view(const TensorView& view, const arch::TensorDesc& desc, std::int64_t h,
                 std::int64_t w, std::int64_t c) {
  DEPUTY_CHECK(view.stored, "a tensor without storage has no view");
  if (is_dense(view, desc)) return {view.at, h * w * c, w * c, c, 0};
  const Shape& s = desc.shape;
  DEPUTY_CHECK(s.size() == 4 && s[1] == h && s[2] == w && s[3] == c && view.strides[3] == 1,
               "a strided tensor is seen as another shape");
  return {view.at, view.strides[0], view.strides[1], view.strides[2], view.ring};
}

}  // namespace deputy::delegate
