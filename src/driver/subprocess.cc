#include "driver/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

fs::path own_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace

StatusOr<SubprocessResult> run_subprocess(const std::vector<std::string>& arguments, bool join_errors) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int fds[2] = {-1, -1};
  if (pipe2(fds, O_CLOEXEC) != 0)
    return Status::error("E10059", std::string("cannot make a pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  if (join_errors) posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  if (failed != 0) {
    close(fds[0]);
    return Status::error("E10059", "cannot start " + arguments[0] + ": " + std::strerror(failed));
  }
  SubprocessResult result;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = read(fds[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.out.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(fds[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

StatusOr<fs::path> project_home() {
  std::vector<fs::path> places;
  if (const char* home = std::getenv("ATC_HOME"); home != nullptr) places.emplace_back(home);
  for (fs::path folder = own_path().parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    places.push_back(folder);
  std::error_code ignored;
  for (const fs::path& place : places)
    if (fs::exists(place / "include" / "atc" / "custom_op.h", ignored)) return place;
  return Status::error("E10059",
                       "The headers of Ascend C (include/atc/custom_op.h) are not found beside this program")
      .solution("Set ATC_HOME to the folder of the project.");
}

fs::path library_folder() { return own_path().parent_path().parent_path(); }

std::vector<std::string> simulator_libraries() {
  const fs::path folder = library_folder();
  std::vector<std::string> out;
  for (const char* name : {"custom", "profile", "ascendc", "aicore", "soc", "base"})
    out.push_back((folder / ("libatc_" + std::string(name) + ".a")).string());
  out.insert(out.end(), {"-lboost_context", "-lpthread", "-ldl"});
  return out;
}

}  // namespace atc::driver
