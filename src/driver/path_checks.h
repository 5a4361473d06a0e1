#pragma once

#include <filesystem>
#include <string_view>

#include "atc/base/status.h"

namespace atc::driver {

/// E13000 missing or a folder, E13001 not readable; the message names the option.
Status check_input_file(std::string_view option, const std::filesystem::path& path);
/// The file may be created: E13001 where its folder, or the nearest one that exists, cannot be written.
Status check_output_file(std::string_view option, const std::filesystem::path& path);
/// Whether both paths lead to one file, which need not exist.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);
/// Where fusion_result.json goes, as ATC has it: the working directory, or a folder of the process below
/// $ASCEND_WORK_PATH.
std::filesystem::path fusion_result_path();
/// Creates the folder of an output file if need be. E13002.
Status create_folder_of(const std::filesystem::path& path);

}  // namespace atc::driver
