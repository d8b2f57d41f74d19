# What Clang 19.1 makes of begins_inlined.c: clang -O2 -g -gdwarf-4 -fPIC -S -fno-builtin -fno-integrated-as -fno-addrsig
# -fno-verbose-asm -fno-asynchronous-unwind-tables -fdebug-compilation-dir=/source
	.text
	.file	"begins_inlined.c"
	.globl	total
	.p2align	4, 0x90
	.type	total,@function
total:
.Lfunc_begin0:
	.file	1 "/source/begins_inlined.c"
	.loc	1 9 0
	.cfi_sections .debug_frame
	.cfi_startproc
	pushq	%r14
	.cfi_def_cfa_offset 16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	pushq	%rax
	.cfi_def_cfa_offset 32
	.cfi_offset %rbx, -24
	.cfi_offset %r14, -16
.Ltmp0:
	.loc	1 6 10 prologue_end
	movq	(%rdi), %r14
.Ltmp1:
	.loc	1 11 48
	cmpq	8(%rdi), %r14
.Ltmp2:
	.loc	1 11 3 is_stmt 0
	je	.LBB0_1
.Ltmp3:
	.loc	1 0 3
	movq	%rdi, %rbx
	xorps	%xmm0, %xmm0
.Ltmp4:
	.p2align	4, 0x90
.LBB0_4:
	movsd	%xmm0, (%rsp)
.Ltmp5:
	.loc	1 12 19 is_stmt 1
	movsd	(%r14), %xmm0
	.loc	1 12 12 is_stmt 0
	callq	lgamma@PLT
.Ltmp6:
	.loc	1 0 12
	movsd	(%rsp), %xmm1
	.loc	1 12 9
	addsd	%xmm0, %xmm1
.Ltmp7:
	.loc	1 0 9
	movsd	%xmm1, (%rsp)
.Ltmp8:
	movsd	(%rsp), %xmm0
.Ltmp9:
	.loc	1 11 61 is_stmt 1
	addq	$8, %r14
.Ltmp10:
	.loc	1 11 48 is_stmt 0
	cmpq	8(%rbx), %r14
.Ltmp11:
	.loc	1 11 3
	jne	.LBB0_4
	jmp	.LBB0_2
.Ltmp12:
.LBB0_1:
	.loc	1 0 3
	xorps	%xmm0, %xmm0
.Ltmp13:
.LBB0_2:
	.loc	1 14 3 epilogue_begin is_stmt 1
	addq	$8, %rsp
	.cfi_def_cfa_offset 24
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%r14
	.cfi_def_cfa_offset 8
	retq
.Ltmp14:
.Lfunc_end0:
	.size	total, .Lfunc_end0-total
	.cfi_endproc

	.section	.debug_loc,"",@progbits
.Ldebug_loc0:
	.quad	.Lfunc_begin0-.Lfunc_begin0
	.quad	.Ltmp4-.Lfunc_begin0
	.short	1
	.byte	85
	.quad	.Ltmp4-.Lfunc_begin0
	.quad	.Ltmp12-.Lfunc_begin0
	.short	1
	.byte	83
	.quad	.Ltmp12-.Lfunc_begin0
	.quad	.Ltmp13-.Lfunc_begin0
	.short	1
	.byte	85
	.quad	.Ltmp13-.Lfunc_begin0
	.quad	.Lfunc_end0-.Lfunc_begin0
	.short	4
	.byte	243
	.byte	1
	.byte	85
	.byte	159
	.quad	0
	.quad	0
.Ldebug_loc1:
	.quad	.Ltmp0-.Lfunc_begin0
	.quad	.Ltmp4-.Lfunc_begin0
	.short	10
	.byte	158
	.byte	8
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.quad	.Ltmp4-.Lfunc_begin0
	.quad	.Ltmp5-.Lfunc_begin0
	.short	1
	.byte	97
	.quad	.Ltmp5-.Lfunc_begin0
	.quad	.Ltmp7-.Lfunc_begin0
	.short	5
	.byte	119
	.byte	0
	.byte	148
	.byte	16
	.byte	159
	.quad	.Ltmp7-.Lfunc_begin0
	.quad	.Ltmp8-.Lfunc_begin0
	.short	1
	.byte	98
	.quad	.Ltmp8-.Lfunc_begin0
	.quad	.Ltmp12-.Lfunc_begin0
	.short	5
	.byte	119
	.byte	0
	.byte	148
	.byte	16
	.byte	159
	.quad	.Ltmp12-.Lfunc_begin0
	.quad	.Ltmp13-.Lfunc_begin0
	.short	10
	.byte	158
	.byte	8
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.byte	0
	.quad	0
	.quad	0
.Ldebug_loc2:
	.quad	.Ltmp1-.Lfunc_begin0
	.quad	.Ltmp12-.Lfunc_begin0
	.short	1
	.byte	94
	.quad	0
	.quad	0
	.section	.debug_abbrev,"",@progbits
	.byte	1
	.byte	17
	.byte	1
	.byte	37
	.byte	14
	.byte	19
	.byte	5
	.byte	3
	.byte	14
	.byte	16
	.byte	23
	.byte	27
	.byte	14
	.byte	17
	.byte	1
	.byte	18
	.byte	6
	.byte	0
	.byte	0
	.byte	2
	.byte	46
	.byte	1
	.byte	3
	.byte	14
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	39
	.byte	25
	.byte	73
	.byte	19
	.byte	32
	.byte	11
	.byte	0
	.byte	0
	.byte	3
	.byte	5
	.byte	0
	.byte	3
	.byte	14
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	4
	.byte	15
	.byte	0
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	5
	.byte	38
	.byte	0
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	6
	.byte	36
	.byte	0
	.byte	3
	.byte	14
	.byte	62
	.byte	11
	.byte	11
	.byte	11
	.byte	0
	.byte	0
	.byte	7
	.byte	46
	.byte	1
	.byte	17
	.byte	1
	.byte	18
	.byte	6
	.byte	64
	.byte	24
	.ascii	"\227B"
	.byte	25
	.byte	3
	.byte	14
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	39
	.byte	25
	.byte	73
	.byte	19
	.byte	63
	.byte	25
	.byte	0
	.byte	0
	.byte	8
	.byte	5
	.byte	0
	.byte	2
	.byte	23
	.byte	3
	.byte	14
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	9
	.byte	52
	.byte	0
	.byte	2
	.byte	23
	.byte	3
	.byte	14
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	10
	.byte	11
	.byte	1
	.byte	17
	.byte	1
	.byte	18
	.byte	6
	.byte	0
	.byte	0
	.byte	11
	.byte	29
	.byte	1
	.byte	49
	.byte	19
	.byte	17
	.byte	1
	.byte	18
	.byte	6
	.byte	88
	.byte	11
	.byte	89
	.byte	11
	.byte	87
	.byte	11
	.byte	0
	.byte	0
	.byte	12
	.byte	5
	.byte	0
	.byte	2
	.byte	24
	.byte	49
	.byte	19
	.byte	0
	.byte	0
	.byte	13
	.ascii	"\211\202\001"
	.byte	0
	.byte	49
	.byte	19
	.byte	17
	.byte	1
	.byte	0
	.byte	0
	.byte	14
	.byte	46
	.byte	1
	.byte	3
	.byte	14
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	39
	.byte	25
	.byte	73
	.byte	19
	.byte	60
	.byte	25
	.byte	63
	.byte	25
	.byte	0
	.byte	0
	.byte	15
	.byte	5
	.byte	0
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_info,"",@progbits
.Lcu_begin0:
	.long	.Ldebug_info_end0-.Ldebug_info_start0
.Ldebug_info_start0:
	.short	4
	.long	.debug_abbrev
	.byte	8
	.byte	1
	.long	.Linfo_string0
	.short	29
	.long	.Linfo_string1
	.long	.Lline_table_start0
	.long	.Linfo_string2
	.quad	.Lfunc_begin0
	.long	.Lfunc_end0-.Lfunc_begin0
	.byte	2
	.long	.Linfo_string3
	.byte	1
	.byte	5

	.long	66
	.byte	1
	.byte	3
	.long	.Linfo_string5
	.byte	1
	.byte	5
	.long	83
	.byte	0
	.byte	4
	.long	71
	.byte	5
	.long	76
	.byte	6
	.long	.Linfo_string4
	.byte	4
	.byte	8
	.byte	4
	.long	88
	.byte	5
	.long	66
	.byte	7
	.quad	.Lfunc_begin0
	.long	.Lfunc_end0-.Lfunc_begin0
	.byte	1
	.byte	87

	.long	.Linfo_string7
	.byte	1
	.byte	9

	.long	76

	.byte	8
	.long	.Ldebug_loc0
	.long	.Linfo_string5
	.byte	1
	.byte	9
	.long	83
	.byte	9
	.long	.Ldebug_loc1
	.long	.Linfo_string8
	.byte	1
	.byte	10
	.long	76
	.byte	10
	.quad	.Lfunc_begin0
	.long	.Ltmp12-.Lfunc_begin0
	.byte	9
	.long	.Ldebug_loc2
	.long	.Linfo_string9
	.byte	1
	.byte	11
	.long	66
	.byte	11
	.long	42
	.quad	.Lfunc_begin0
	.long	.Ltmp1-.Lfunc_begin0
	.byte	1
	.byte	11
	.byte	29
	.byte	12
	.byte	1
	.byte	85
	.long	54
	.byte	0
	.byte	0
	.byte	13
	.long	219
	.quad	.Ltmp6
	.byte	0
	.byte	14
	.long	.Linfo_string6
	.byte	1
	.byte	3

	.long	76


	.byte	15
	.long	76
	.byte	0
	.byte	0
.Ldebug_info_end0:
	.section	.debug_str,"MS",@progbits,1
.Linfo_string0:
	.asciz	"Debian clang version 19.1.7 (3~deb12u1)"
.Linfo_string1:
	.asciz	"begins_inlined.c"
.Linfo_string2:
	.asciz	"/source"
.Linfo_string3:
	.asciz	"begin"
.Linfo_string4:
	.asciz	"double"
.Linfo_string5:
	.asciz	"range"
.Linfo_string6:
	.asciz	"lgamma"
.Linfo_string7:
	.asciz	"total"
.Linfo_string8:
	.asciz	"sum"
.Linfo_string9:
	.asciz	"each"
	.ident	"Debian clang version 19.1.7 (3~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.section	.debug_line,"",@progbits
.Lline_table_start0:
