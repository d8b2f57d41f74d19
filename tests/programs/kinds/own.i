%module swig_kind
%{
#include "own.h"
%}
%include "own.h"
