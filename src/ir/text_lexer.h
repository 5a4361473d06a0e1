#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace atc::ir::text {

enum class TokenKind { End, Word, Number, String, Punct, Bad };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  ///< as written; of a string without its quotes, still escaped
  std::size_t offset = 0;
};

/// Cuts `.air` text into tokens; white space and `//` comments separate them. One token of look-ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) { advance(); }
  const Token& peek() const { return token_; }
  Token take() {
    const Token t = token_;
    advance();
    return t;
  }
  std::size_t remaining() const { return source_.size() - token_.offset; }
  /// "line 3, column 14" of an offset.
  std::string place(std::size_t offset) const;

 private:
  void advance();
  void skip_space();
  std::size_t scan_number(std::size_t at) const;

  std::string_view source_;
  std::size_t at_ = 0;
  Token token_;
};

/// Undoes quoted(); false on a bad escape.
bool unescape(std::string_view raw, std::string& out);

}  // namespace atc::ir::text
