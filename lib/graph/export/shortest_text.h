/*
 * Real numbers as the shortest text that reads back as the same number.
 */
#ifndef HOPWAVE_GRAPH_EXPORT_SHORTEST_TEXT_H
#define HOPWAVE_GRAPH_EXPORT_SHORTEST_TEXT_H

enum { HW_SHORTEST_TEXT = 24 /* bytes that a text needs at most */ };

/*
 * Writes the shortest decimal that strtof() reads as value: 0.65, not 0.649999976. Whole numbers
 * below 2^24 have neither point nor exponent.
 *
 * text: [HW_SHORTEST_TEXT]. Returns the length. Local.
 */
int hw_shortest_text(float value, char *text);

#endif
