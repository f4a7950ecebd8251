# SPDX-License-Identifier: Apache-2.0
# The target `agent_tests` builds and runs the unit tests of the rooms that the agent is made of, and of
# the header that apps report to it with.

function(assay_rooms_of target out)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  set(rooms ${${out}})
  foreach(library ${libraries})
    if(library MATCHES "^assay::(.+)$" AND NOT CMAKE_MATCH_1 IN_LIST rooms)
      list(APPEND rooms ${CMAKE_MATCH_1})
      assay_rooms_of(assay_${CMAKE_MATCH_1} rooms)
    endif()
  endforeach()
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()

assay_rooms_of(assay-agent rooms)
list(APPEND rooms client)
foreach(room ${rooms})
  if(TARGET ${room}_test)
    list(APPEND programs ${room}_test)
  endif()
endforeach()
list(JOIN rooms | rooms)
add_custom_target(agent_tests
  COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure -R "^(${rooms})\\."
  DEPENDS ${programs} USES_TERMINAL VERBATIM)
