// Inference with TensorFlow Lite models through LiteRT's library, which dlopen(3) loads from a path at run time.
//
// Conventions: All names begin with `ci_`. The functions make no decisions, keep no global state,
// and write no log. All tensors are arrays of 32-bit floats. After a failure, a function with the
// parameter `error` writes a sentence without a full stop to `error`. Several threads can use a
// library; only one thread at a time can use a model.
#ifndef CINFERENCE_H
#define CINFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/// Size of the longest error text, including its NUL, bytes.
#define CI_TEXT 512

/// Largest number of outputs of a model.
#define CI_OUTPUTS 8

/// A loaded library.
typedef struct ci_library ci_library;

/// A model with its input and its outputs.
typedef struct ci_model ci_model;

/// Loads LiteRT's library from a file.
ci_library *ci_library_open(const char *path, char error[CI_TEXT]);

/// Releases the library's environment; all models must be closed before. The code of the library stays loaded, because
/// its threads can still use the code.
void ci_library_close(ci_library *library);

/// Reads and prepares a model with one input. `threads` is the number of threads that execute the
/// model, at least 1.
ci_model *ci_model_open(ci_library *library, const char *path, int threads, char error[CI_TEXT]);

void ci_model_close(ci_model *model);

/// Returns the number of values in the model's input.
size_t ci_model_input_size(const ci_model *model);

/// Returns the number of the model's outputs, at most CI_OUTPUTS.
size_t ci_model_output_count(const ci_model *model);

/// Returns the number of values in an output of the model.
size_t ci_model_output_size(const ci_model *model, size_t index);

/// Executes the model. `outputs` contains an array for each output, or NULL for an output that is
/// not needed.
bool ci_model_run(ci_model *model, const float *input, float *const *outputs, char error[CI_TEXT]);

#endif
