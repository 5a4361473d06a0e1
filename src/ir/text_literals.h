#pragma once

#include <cstdint>
#include <string>

#include "atc/base/tensor.h"
#include "atc/ir/type.h"
#include "text_elements.h"
#include "text_lexer.h"

namespace atc::ir::text {

/// Reads the leaves of the grammar: punctuation, words, numbers, types and tensors. Every method
/// returns false once something was wrong; the first fault is kept.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view source) : lexer_(source) {}

  /// "line 3, column 14: ..." of the first fault.
  const std::string& fault() const { return fault_; }

 protected:
  bool fail(std::size_t offset, const std::string& what);
  /// "expected WHAT, found TOKEN".
  bool unexpected(const std::string& what);
  bool at_punct(std::string_view text) const;
  bool at_word(std::string_view text) const;
  bool accept(std::string_view punct);
  bool accept_word(std::string_view word);
  bool expect(std::string_view punct);
  bool expect_word(std::string_view word);

  bool read_string(std::string& out);
  /// An identifier or a quoted string.
  bool read_name(std::string& out);
  bool read_int(std::int64_t& out);
  bool read_float(float& out);
  /// True when the next token starts a float: "1.5", "1e9", "nan", "-inf".
  bool at_float() const;
  bool read_type(TensorType& out);
  bool read_tensor(Tensor& out);

  Lexer lexer_;

 private:
  bool read_shape(TensorType& out);
  bool read_elements(Tensor& out, std::size_t count);
  bool read_splat(Tensor& out, std::size_t count);
  bool read_strings(Tensor& out, std::size_t count);
  bool read_element(DType dtype, ElementBits& out);
  template <class Float, class Bits>
  bool read_float_bits(Bits& out, int width);
  bool read_integer_bits(DType dtype, std::uint64_t& out);
  bool read_hex(std::uint64_t& out, int width);

  std::string fault_;
  std::size_t splat_bytes_ = 0;
};

}  // namespace atc::ir::text
