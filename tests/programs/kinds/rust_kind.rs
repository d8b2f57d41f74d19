// A module of the interpreter's C API in Rust, as PyO3 makes one, without its crates.
use std::collections::HashMap;
use std::os::raw::{c_char, c_int, c_long, c_void};

type Object = *mut c_void;
const END: Object = std::ptr::null_mut(); // of arguments

extern "C" {
    fn PyLong_AsLong(object: Object) -> c_long;
    fn PyLong_FromLong(value: c_long) -> Object;
    fn PyTuple_GetItem(tuple: Object, index: isize) -> Object;
    fn PyModule_Create2(module: *mut Module, version: c_int) -> Object;
    fn PyObject_CallFunctionObjArgs(function: Object, ...) -> Object;
}

#[repr(C)]
pub struct Method {
    name: *const c_char,
    function: Option<unsafe extern "C" fn(Object, Object) -> Object>,
    flags: c_int,
    doc: *const c_char,
}

#[repr(C)]
pub struct Module {
    references: isize,
    kind: Object,
    init: Object,
    index: isize,
    copy: Object,
    name: *const c_char,
    doc: *const c_char,
    size: isize,
    methods: *mut Method,
    rest: [Object; 4],
}

unsafe extern "C" fn scaled(_module: Object, arguments: Object) -> Object {
    let number = PyLong_AsLong(PyTuple_GetItem(arguments, 0)); // @scaled
    let by = PyLong_AsLong(PyTuple_GetItem(arguments, 1)); // @returns
    PyLong_FromLong(number * by + 1)
}

unsafe extern "C" fn twice(_module: Object, arguments: Object) -> Object {
    let function = PyTuple_GetItem(arguments, 0); // @twice
    let once = PyObject_CallFunctionObjArgs(function, PyTuple_GetItem(arguments, 1), END); // @again
    PyObject_CallFunctionObjArgs(function, once, END)
}

pub enum Mode {
    Plain,
    Scaled { factor: f64, name: String },
    Pair(i32, f32),
}

unsafe extern "C" fn looked(_module: Object, _arguments: Object) -> Object {
    let numbers: Vec<f64> = vec![1.0, 2.5, -3.0];
    let names = vec!["low".to_string(), "high".to_string()];
    let part = &numbers[1..];
    let mode = Mode::Scaled { factor: 2.0, name: "fast".to_string() };
    let pair = Mode::Pair(3, 0.5);
    let plain = Mode::Plain;
    let modes = [Mode::Pair(3, 0.5), Mode::Scaled { factor: 3.0, name: "s".to_string() }, Mode::Plain];
    let rates = HashMap::from([("low".to_string(), 0.5)]);
    let limit: Option<u32> = Some(3);
    let absent: Option<String> = None;
    let double = |number: f64| 2.0 * number; // @closure
    let sum: f64 = part.iter().map(|number| double(*number)).sum();
    PyLong_FromLong(sum as c_long) // @looked
}

#[no_mangle]
pub unsafe extern "C" fn PyInit_rust_kind() -> Object {
    let methods = Box::leak(Box::new([
        Method { name: c"scaled".as_ptr(), function: Some(scaled), flags: 1, doc: std::ptr::null() },
        Method { name: c"twice".as_ptr(), function: Some(twice), flags: 1, doc: std::ptr::null() },
        Method { name: c"looked".as_ptr(), function: Some(looked), flags: 1, doc: std::ptr::null() },
        Method { name: std::ptr::null(), function: None, flags: 0, doc: std::ptr::null() },
    ]));
    let module = Box::leak(Box::new(Module {
        references: 1,
        kind: std::ptr::null_mut(),
        init: std::ptr::null_mut(),
        index: 0,
        copy: std::ptr::null_mut(),
        name: c"rust_kind".as_ptr(),
        doc: std::ptr::null(),
        size: -1,
        methods: methods.as_mut_ptr(),
        rest: [std::ptr::null_mut(); 4],
    }));
    PyModule_Create2(module, 1013)
}
