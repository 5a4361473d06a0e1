# cmake -DROOT=<source dir> -P tests/layering.cmake: fails when a file includes a higher layer.
# Layers from low to high: name, then the include prefixes that belong to it.
set(layers
    "base|atc/base/" "ir|atc/ir/" "soc|soc/" "aicore|aicore/;atc/core_api.h" "profile|profile/" "ascendc|ascendc/" "kernels|kernels/" "custom_op|atc/custom_op.h" "host_launch|atc/host_launch.h" "custom|custom/" "ops|ops/"
    "frontend|frontend/" "passes|passes/" "plan|plan/" "om|om/" "runtime|runtime/;atc/acl/;acl/" "report|report/"
    "driver|driver/")
set(folders
    "base|include/atc/base;src/base" "ir|include/atc/ir;src/ir" "soc|src/soc" "aicore|src/aicore" "profile|src/profile" "ascendc|include/ascendc;src/ascendc"
    "kernels|src/kernels" "custom|src/custom" "ops|ops" "frontend|src/frontend" "passes|passes" "plan|src/plan" "om|src/om"
    "runtime|src/runtime;include/acl" "report|src/report" "driver|src/driver")

set(rank 0)
foreach(entry ${layers})
  string(REGEX REPLACE "\\|.*" "" name "${entry}")
  set(rank_${name} ${rank})
  math(EXPR rank "${rank} + 1")
endforeach()

set(faults 0)
set(checked 0)
foreach(entry IN LISTS folders)
  string(REGEX REPLACE "\\|.*" "" layer "${entry}")
  string(REGEX REPLACE "^[^|]*\\|" "" dirs "${entry}")
  foreach(dir IN LISTS dirs)
    file(GLOB_RECURSE files ${ROOT}/${dir}/*.h ${ROOT}/${dir}/*.cc ${ROOT}/${dir}/*.inc)
    foreach(file IN LISTS files)
      math(EXPR checked "${checked} + 1")
      file(STRINGS ${file} includes REGEX "^#include \"")
      foreach(line IN LISTS includes)
        string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" path "${line}")
        foreach(target IN LISTS layers)
          string(REGEX REPLACE "\\|.*" "" other "${target}")
          string(REGEX REPLACE "^[^|]*\\|" "" prefixes "${target}")
          foreach(prefix IN LISTS prefixes)
            string(FIND "${path}" "${prefix}" at)
            if(at EQUAL 0 AND rank_${other} GREATER rank_${layer})
              message("${file}: layer '${layer}' includes \"${path}\" of the higher layer '${other}'")
              math(EXPR faults "${faults} + 1")
            endif()
          endforeach()
        endforeach()
      endforeach()
    endforeach()
  endforeach()
endforeach()
if(checked LESS 50)
  message(FATAL_ERROR "only ${checked} files were found below ${ROOT}")
endif()
if(faults GREATER 0)
  message(FATAL_ERROR "${faults} include(s) of a higher layer")
endif()
message("${checked} files checked")
