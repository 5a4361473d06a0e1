#include "custom/source_line.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace atc::custom {

std::string source_line(std::span<const std::byte> object, std::uint64_t offset) {
  const int fd = memfd_create("library", 0);  // addr2line inherits it
  if (fd < 0) return {};
  std::size_t at = 0;
  while (at < object.size()) {
    const ssize_t n = write(fd, object.data() + at, object.size() - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  std::string answer;
  std::array<char, 160> command;
  std::snprintf(command.data(), command.size(), "addr2line -s -e /proc/self/fd/%d 0x%llx 2>/dev/null", fd,
                static_cast<unsigned long long>(offset));
  if (FILE* pipe = at == object.size() ? popen(command.data(), "r") : nullptr; pipe != nullptr) {
    std::array<char, 512> line;
    if (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) answer = line.data();
    pclose(pipe);
  }
  close(fd);
  // "add.cpp:31 (discriminator 2)", or "??:0".
  answer = answer.substr(0, answer.find_first_of(" \n"));
  const bool known =
      !answer.empty() && answer[0] != '?' && !answer.ends_with(":?") && !answer.ends_with(":0");
  return known ? answer : std::string();
}

}  // namespace atc::custom
