// Functions, a class and a call back, as PyO3 makes them.
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
fn scaled(number: i64, by: i64) -> PyResult<i64> {
    let result = number * by + 1; // @scaled
    Ok(result) // @returns
}

#[pyfunction]
fn twice(py: Python<'_>, function: PyObject, number: i64) -> PyResult<i64> {
    let once = function.call1(py, (number,))?; // @again
    function.call1(py, (once,))?.extract(py)
}

#[pyfunction]
fn looked(words: &PyDict, thing: PyObject) -> usize {
    words.len() + thing.get_refcnt(words.py()) as usize // @looked
}

#[pyclass]
struct Counter {
    count: usize,
}

#[pymethods]
impl Counter {
    #[new]
    fn new() -> Self {
        Counter { count: 1 }
    }

    fn step(&mut self, by: usize) -> usize {
        self.count += by; // @step
        self.count
    }
}

#[pymodule]
fn pyo3_kind(_py: Python<'_>, module: &PyModule) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(scaled, module)?)?;
    module.add_function(wrap_pyfunction!(twice, module)?)?;
    module.add_function(wrap_pyfunction!(looked, module)?)?;
    module.add_class::<Counter>()
}
