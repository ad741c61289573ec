# Writes OUT, a C++ file that defines SYMBOL, a std::string_view of namespace SPACE, as FILE's text.
file(READ ${FILE} text)
string(FIND "${text}" ")embedded_text\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${FILE} contains the end of the raw string that it would be in")
endif()
file(WRITE ${OUT} "#include <string_view>
namespace ${SPACE} {
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL} = R\"embedded_text(${text})embedded_text\";
}  // namespace ${SPACE}
")
