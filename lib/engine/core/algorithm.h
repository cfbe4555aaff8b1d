/*
 * What is searched, on what kind of device, and in which direction: the
 * enumerations that options, trace and method table share.
 */
#ifndef HOPWAVE_ENGINE_CORE_ALGORITHM_H
#define HOPWAVE_ENGINE_CORE_ALGORITHM_H

enum hw_algorithm { HW_BFS, HW_SSSP };
enum hw_device { HW_CPU, HW_GPU };

/* Their names in options and files, in the order of the enumerations; NULL-ended. Defined in
 * method_registry.c. */
extern const char *const hw_algorithm_words[];
extern const char *const hw_device_words[];

/* Top-down (push) scans the lists of the frontier, bottom-up (pull) those of unvisited vertices. */
enum hw_direction { HW_DIRECTION_AUTO, HW_DIRECTION_TOP_DOWN, HW_DIRECTION_BOTTOM_UP };

#endif
