// Inference with TensorFlow Lite models through LiteRT's library, which dlopen(3) loads from a path at run time.
//
// Conventions: prefix `ci_`; no policy, no global state, no logging. All tensors are arrays of 32-bit floats. A function with
// `error` writes a sentence without a full stop to it on failure. A library may be used by several threads; each model by one
// thread at a time.
#ifndef CINFERENCE_H
#define CINFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/// Longest text with its NUL, bytes.
#define CI_TEXT 512

/// Largest number of outputs of a model.
#define CI_OUTPUTS 8

/// A loaded library.
typedef struct ci_library ci_library;

/// A model with its input and its outputs.
typedef struct ci_model ci_model;

/// Loads LiteRT's library from a file.
ci_library *ci_library_open(const char *path, char error[CI_TEXT]);

/// Releases the library's environment. No model may be open. The library's code stays loaded, because its threads may use it.
void ci_library_close(ci_library *library);

/// Reads and prepares a model with one input. `threads`: threads of a run, from 1.
ci_model *ci_model_open(ci_library *library, const char *path, int threads, char error[CI_TEXT]);

void ci_model_close(ci_model *model);

/// Number of values of the input.
size_t ci_model_input_size(const ci_model *model);

/// Number of outputs, at most CI_OUTPUTS.
size_t ci_model_output_count(const ci_model *model);

/// Number of values of an output.
size_t ci_model_output_size(const ci_model *model, size_t index);

/// Computes the outputs from an input. `outputs` has an array for each output, or NULL for one that is not needed.
bool ci_model_run(ci_model *model, const float *input, float *const *outputs, char error[CI_TEXT]);

#endif
