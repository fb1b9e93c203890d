/* The agent's own interpreter: CPython of Debian, linked for glibc 2.28, whose modules are in a zip archive at
 * the end of this very file. Nothing of the node's Python, and no variable that steers one, is looked at. */

#include <Python.h>
#include <fcntl.h>
#include <unistd.h>

#define START L"import agent_start; agent_start.main()"

/* Builtin modules: what is linked in, and nothing else. */

#define MODULES(M) M(_abc) M(_bisect) M(_blake2) M(_codecs) M(_collections) M(_ctypes) M(_datetime) \
    M(_functools) M(_heapq) M(_io) M(_locale) M(_md5) M(_operator) M(_pickle) M(_posixsubprocess) M(_random) \
    M(_sha1) M(_sha256) M(_sha3) M(_sha512) M(_signal) M(_socket) M(_sre) M(_stat) M(_statistics) M(_struct) \
    M(_symtable) M(_thread) M(_tracemalloc) M(_weakref) M(array) M(atexit) M(binascii) M(errno) \
    M(faulthandler) M(fcntl) M(grp) M(itertools) M(math) M(posix) M(pwd) M(select) M(time) M(unicodedata) \
    M(zlib)

#define DECLARE(name) extern PyObject *PyInit_##name(void);
#define ENTRY(name) {#name, PyInit_##name},
extern PyObject *PyMarshal_Init(void), *PyInit__imp(void), *PyInit__ast(void), *PyInit__tokenize(void),
    *PyInit_gc(void), *_PyWarnings_Init(void), *PyInit__string(void);
MODULES(DECLARE)

struct _inittab _PyImport_Inittab[] = {
    MODULES(ENTRY)
    {"marshal", PyMarshal_Init}, {"_imp", PyInit__imp}, {"_ast", PyInit__ast}, {"_tokenize", PyInit__tokenize},
    {"builtins", NULL}, {"sys", NULL}, {"gc", PyInit_gc}, {"_warnings", _PyWarnings_Init},
    {"_string", PyInit__string}, {NULL, NULL},
};

/* This file: by the kernel's name, which stays good when somebody deletes it; by the first argument where /proc
 * is missing or shows a loader that was called with us. */
static const char *own_file(char *called) {
    char end[4];
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const char *found = called;
    if (file >= 0) {
        /* Where the record stands with which our archive ends. */
        if (lseek(file, -22, SEEK_END) > 0 && read(file, end, 4) == 4 && !memcmp(end, "PK\5\6", 4))
            found = "/proc/self/exe";
        close(file);
    }
    return found;
}

static PyStatus set_up(PyConfig *config, int count, char **words) {
    const char *file = own_file(words[0]);
    PyStatus status = PyConfig_SetBytesString(config, &config->executable, file);
    wchar_t *place = Py_DecodeLocale(file, NULL);
    if (!place)
        return PyStatus_NoMemory();
    if (!PyStatus_Exception(status))
        status = PyWideStringList_Append(&config->module_search_paths, place);
    PyMem_RawFree(place);
    config->module_search_paths_set = 1;
    config->pathconfig_warnings = config->site_import = config->parse_argv = config->write_bytecode = 0;
    config->install_signal_handlers = 1;
    wchar_t **set[] = {&config->prefix, &config->exec_prefix, &config->base_prefix, &config->base_exec_prefix,
                       &config->base_executable, &config->stdlib_dir, &config->home, &config->program_name};
    for (size_t i = 0; i < sizeof set / sizeof *set && !PyStatus_Exception(status); i++)
        status = PyConfig_SetString(config, set[i], config->executable);
    if (!PyStatus_Exception(status))
        status = PyConfig_SetString(config, &config->run_command, START);
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesArgv(config, count, words);
    return status;
}

int main(int count, char **words) {
    PyPreConfig before;
    PyConfig config;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1; /* names of files are bytes, whatever the node calls its locale */
    PyStatus status = Py_PreInitialize(&before);
    if (!PyStatus_Exception(status)) {
        PyConfig_InitIsolatedConfig(&config);
        status = set_up(&config, count, words);
        if (!PyStatus_Exception(status))
            status = Py_InitializeFromConfig(&config);
        PyConfig_Clear(&config);
    }
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    return Py_RunMain();
}
