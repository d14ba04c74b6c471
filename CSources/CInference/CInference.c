#include "CInference.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of LiteRT's C interface that this file calls, declared here as they are in release 2.3.0 (the headers
// below litert/c of github.com/google-ai-edge/LiteRT, Apache-2.0). All handles are pointers. A function that returns 0
// has succeeded.
typedef void *handle;

/// Value of an option of the library: an integer.
typedef struct {
    int32_t type;
    union {
        int64_t integer;
        const void *pointer;
    } value;
} any;

typedef struct {
    int32_t tag;
    any value;
} environment_option;

/// Element type and shape of a tensor. The rank is in the lowest seven bits of `rank_and_flag`.
typedef struct {
    int32_t element;
    uint32_t rank_and_flag;
    int32_t sizes[8];
    uint32_t strides[8];
} tensor_type;

enum {
    INTEGER = 2,
    ACCELERATORS = 24,
    LOWEST_SEVERITY = 25,
    SEVERITY_ERROR = 3,
    PROCESSOR = 1,
    FLOAT32 = 1,
    LOCK_READ = 0,
    LOCK_WRITE = 1,
    MAXIMUM_RANK = 8,
};

#define FUNCTIONS(F)                                                                                                   \
    F(CreateEnvironment, int, (int, const environment_option *, handle *))                                            \
    F(DestroyEnvironment, void, (handle))                                                                              \
    F(CreateModelFromFile, int, (handle, const char *, handle *))                                                      \
    F(DestroyModel, void, (handle))                                                                                    \
    F(CreateOptions, int, (handle *))                                                                                  \
    F(DestroyOptions, void, (handle))                                                                                  \
    F(SetOptionsHardwareAccelerators, int, (handle, int))                                                              \
    F(CreateOpaqueOptions, int, (const char *, void *, void (*)(void *), handle *))                                    \
    F(DestroyOpaqueOptions, void, (handle))                                                                            \
    F(AddOpaqueOptions, int, (handle, handle))                                                                         \
    F(CreateCompiledModel, int, (handle, handle, handle, handle *))                                                    \
    F(DestroyCompiledModel, void, (handle))                                                                            \
    F(GetModelSignature, int, (handle, size_t, handle *))                                                              \
    F(GetNumSignatureInputs, int, (handle, size_t *))                                                                  \
    F(GetNumSignatureOutputs, int, (handle, size_t *))                                                                 \
    F(GetSignatureInputTensorByIndex, int, (handle, size_t, handle *))                                                 \
    F(GetSignatureOutputTensorByIndex, int, (handle, size_t, handle *))                                                \
    F(GetRankedTensorType, int, (handle, tensor_type *))                                                               \
    F(GetCompiledModelInputBufferRequirements, int, (handle, size_t, size_t, handle *))                                \
    F(GetCompiledModelOutputBufferRequirements, int, (handle, size_t, size_t, handle *))                               \
    F(CreateManagedTensorBufferFromRequirements, int, (handle, const tensor_type *, handle, handle *))                 \
    F(DestroyTensorBuffer, void, (handle))                                                                             \
    F(LockTensorBuffer, int, (handle, void **, int))                                                                   \
    F(UnlockTensorBuffer, int, (handle))                                                                               \
    F(RunCompiledModel, int, (handle, size_t, size_t, handle *, size_t, handle *))

struct ci_library {
    handle environment;
#define FIELD(name, result, parameters) result(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
};

struct ci_model {
    ci_library *library;
    handle model, options, compiled, input;
    handle outputs[CI_OUTPUTS];
    size_t input_size, output_count;
    size_t output_sizes[CI_OUTPUTS];
};

static void set_text(char error[CI_TEXT], const char *text) { snprintf(error, CI_TEXT, "%s", text); }

ci_library *ci_library_open(const char *path, char error[CI_TEXT]) {
    void *code = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!code) {
        const char *reason = dlerror();
        set_text(error, reason ? reason : "dlopen failed");
        return NULL;
    }
    ci_library *library = calloc(1, sizeof *library);
    if (!library) {
        set_text(error, "there is not enough memory");
        return NULL;
    }
    const char *missing = NULL;
#define FIND(name, result, parameters)                                                                                 \
    *(void **)&library->name = dlsym(code, "LiteRt" #name);                                                            \
    if (!library->name) missing = "LiteRt" #name;
    FUNCTIONS(FIND)
#undef FIND
    // Without these options the library also searches for accelerators on graphics processors, and
    // writes a line about each to stderr.
    environment_option options[] = {
        {ACCELERATORS, {INTEGER, {.integer = PROCESSOR}}},
        {LOWEST_SEVERITY, {INTEGER, {.integer = SEVERITY_ERROR}}},
    };
    if (missing) {
        snprintf(error, CI_TEXT, "%s has no function %s", path, missing);
    } else if (library->CreateEnvironment(2, options, &library->environment) != 0) {
        set_text(error, "the library cannot create its environment");
    } else {
        return library;
    }
    free(library);
    return NULL;
}

void ci_library_close(ci_library *library) {
    library->DestroyEnvironment(library->environment);
    free(library);
}

/// Options for the execution on the CPU, as text. The text is identical to that of the library's C++ interface.
static bool set_options(ci_model *model, int threads) {
    ci_library *library = model->library;
    if (library->CreateOptions(&model->options) != 0) return false;
    if (library->SetOptionsHardwareAccelerators(model->options, PROCESSOR) != 0) return false;
    size_t size = 32;
    char *text = malloc(size);
    if (!text) return false;
    snprintf(text, size, "num_threads = %d\n", threads);
    handle processor = NULL;
    if (library->CreateOpaqueOptions("xnnpack", text, free, &processor) != 0) {
        free(text);
        return false;
    }
    if (library->AddOpaqueOptions(model->options, processor) != 0) {
        library->DestroyOpaqueOptions(processor);
        return false;
    }
    return true;
}

/// Number of values of a tensor of floats; 0 if the tensor has another type or an unknown size.
static size_t count(const tensor_type *type) {
    uint32_t rank = type->rank_and_flag & 127;
    if (type->element != FLOAT32 || rank > MAXIMUM_RANK) return 0;
    size_t result = 1;
    for (uint32_t index = 0; index < rank; index++) {
        if (type->sizes[index] <= 0 || type->sizes[index] > 1 << 20) return 0;
        result *= (size_t)type->sizes[index];
        if (result > 1 << 26) return 0;
    }
    return result;
}

static bool open_input(ci_model *model, handle signature) {
    ci_library *library = model->library;
    size_t inputs = 0;
    handle tensor = NULL, requirements = NULL;
    tensor_type type = {0};
    if (library->GetNumSignatureInputs(signature, &inputs) != 0 || inputs != 1) return false;
    if (library->GetSignatureInputTensorByIndex(signature, 0, &tensor) != 0) return false;
    if (library->GetRankedTensorType(tensor, &type) != 0) return false;
    model->input_size = count(&type);
    return model->input_size > 0 && library->GetCompiledModelInputBufferRequirements(model->compiled, 0, 0, &requirements) == 0
        && library->CreateManagedTensorBufferFromRequirements(library->environment, &type, requirements, &model->input) == 0;
}

static bool open_output(ci_model *model, handle signature, size_t index) {
    ci_library *library = model->library;
    handle tensor = NULL, requirements = NULL;
    tensor_type type = {0};
    if (library->GetSignatureOutputTensorByIndex(signature, index, &tensor) != 0) return false;
    if (library->GetRankedTensorType(tensor, &type) != 0) return false;
    model->output_sizes[index] = count(&type);
    return model->output_sizes[index] > 0
        && library->GetCompiledModelOutputBufferRequirements(model->compiled, 0, index, &requirements) == 0
        && library->CreateManagedTensorBufferFromRequirements(
               library->environment, &type, requirements, &model->outputs[index]) == 0;
}

ci_model *ci_model_open(ci_library *library, const char *path, int threads, char error[CI_TEXT]) {
    ci_model *model = calloc(1, sizeof *model);
    if (!model) {
        set_text(error, "there is not enough memory");
        return NULL;
    }
    model->library = library;
    handle signature = NULL;
    size_t outputs = 0;
    bool is_open = false;
    if (library->CreateModelFromFile(library->environment, path, &model->model) != 0) {
        snprintf(error, CI_TEXT, "%s is not a model, or cannot be read", path);
    } else if (!set_options(model, threads)) {
        set_text(error, "the library does not accept its options");
    } else if (library->CreateCompiledModel(library->environment, model->model, model->options, &model->compiled) != 0) {
        snprintf(error, CI_TEXT, "the library cannot execute %s", path);
    } else if (library->GetModelSignature(model->model, 0, &signature) != 0
               || library->GetNumSignatureOutputs(signature, &outputs) != 0 || outputs > CI_OUTPUTS
               || !open_input(model, signature)) {
        snprintf(error, CI_TEXT, "%s has other inputs or outputs than expected", path);
    } else {
        is_open = true;
        for (size_t index = 0; index < outputs && is_open; index++) is_open = open_output(model, signature, index);
        model->output_count = outputs;
        if (!is_open) snprintf(error, CI_TEXT, "%s has outputs that are not numbers of 32 bits", path);
    }
    if (is_open) return model;
    ci_model_close(model);
    return NULL;
}

void ci_model_close(ci_model *model) {
    ci_library *library = model->library;
    for (size_t index = 0; index < CI_OUTPUTS; index++) {
        if (model->outputs[index]) library->DestroyTensorBuffer(model->outputs[index]);
    }
    if (model->input) library->DestroyTensorBuffer(model->input);
    if (model->compiled) library->DestroyCompiledModel(model->compiled);
    if (model->options) library->DestroyOptions(model->options);
    if (model->model) library->DestroyModel(model->model);
    free(model);
}

size_t ci_model_input_size(const ci_model *model) { return model->input_size; }

size_t ci_model_output_count(const ci_model *model) { return model->output_count; }

size_t ci_model_output_size(const ci_model *model, size_t index) {
    return index < model->output_count ? model->output_sizes[index] : 0;
}

bool ci_model_run(ci_model *model, const float *input, float *const *outputs, char error[CI_TEXT]) {
    ci_library *library = model->library;
    void *memory = NULL;
    set_text(error, "the model cannot be run");
    if (library->LockTensorBuffer(model->input, &memory, LOCK_WRITE) != 0) return false;
    memcpy(memory, input, model->input_size * sizeof *input);
    library->UnlockTensorBuffer(model->input);
    if (library->RunCompiledModel(model->compiled, 0, 1, &model->input, model->output_count, model->outputs) != 0) return false;
    for (size_t index = 0; index < model->output_count; index++) {
        if (!outputs[index]) continue;
        if (library->LockTensorBuffer(model->outputs[index], &memory, LOCK_READ) != 0) return false;
        memcpy(outputs[index], memory, model->output_sizes[index] * sizeof **outputs);
        library->UnlockTensorBuffer(model->outputs[index]);
    }
    error[0] = 0;
    return true;
}
