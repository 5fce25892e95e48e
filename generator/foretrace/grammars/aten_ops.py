"""The names of ATen and prims operators that return tensors, by which a joined list of them can be taken apart.

Source: the operator schemas of PyTorch 2.13 (aten/src/ATen/native/native_functions.yaml, torch/_prims), without
in-place, quantized, sparse and nested variants; and the operators that Inductor and flex attention add.
"""

from __future__ import annotations

OPS = frozenset(
    """
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _adaptive_avg_pool3d_backward _add_relu
    _addmm_activation _aminmax _autocast_to_full_precision _autocast_to_reduced_precision _batch_norm_impl_index
    _batch_norm_impl_index_backward _batch_norm_no_update _batch_norm_with_update _batch_norm_with_update_functional
    _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short _cdist_backward
    _cdist_forward _cholesky_solve_helper _chunk_cat _compute_linear_combination _conj _conj_copy _conj_physical
    _conv_depthwise2d _convolution _convolution_double_backward _convolution_mode _copy_from _copy_from_and_resize
    _cudnn_attention_backward _cudnn_attention_forward _cudnn_init_dropout_state _dim_arange
    _efficient_attention_backward _efficient_attention_forward _efficientzerotensor _embedding_bag
    _embedding_bag_backward _embedding_bag_dense_backward _embedding_bag_forward_only
    _embedding_bag_per_sample_weights_backward _euclidean_dist _fft_c2c _fft_c2r _fft_r2c _flash_attention_backward
    _flash_attention_forward _flash_attention_forward_no_dropout_inplace _foreach_abs _foreach_acos _foreach_add
    _foreach_addcdiv _foreach_addcmul _foreach_asin _foreach_atan _foreach_ceil _foreach_clone _foreach_copy
    _foreach_cos _foreach_cosh _foreach_div _foreach_erf _foreach_erfc _foreach_exp _foreach_expm1 _foreach_floor
    _foreach_frac _foreach_lerp _foreach_lgamma _foreach_log _foreach_log10 _foreach_log1p _foreach_log2 _foreach_max
    _foreach_maximum _foreach_minimum _foreach_mm _foreach_mul _foreach_neg _foreach_norm _foreach_pow _foreach_powsum
    _foreach_reciprocal _foreach_round _foreach_rsqrt _foreach_sigmoid _foreach_sign _foreach_sin _foreach_sinh
    _foreach_sqrt _foreach_sub _foreach_tan _foreach_tanh _foreach_trunc _foreach_zero _fused_adagrad _fused_adam
    _fused_adamw _fused_dropout _fused_moving_avg_obs_fq_helper _fused_moving_avg_obs_fq_helper_functional
    _fused_rms_norm _fused_rms_norm_backward _fused_sgd _grad_sum_to_size _grouped_mm _histogramdd_bin_edges
    _histogramdd_from_bin_cts _histogramdd_from_bin_tensors _index_put_impl _int_mm _is_all_true _is_any_true
    _linalg_det _linalg_eigh _linalg_eigvals _linalg_slogdet _linalg_solve_ex _linalg_svd _log_softmax
    _log_softmax_backward_data _logcumsumexp _lu_with_info _masked_scale _masked_softmax _masked_softmax_backward
    _mixed_dtypes_linear _native_batch_norm_legit _native_batch_norm_legit_functional
    _native_batch_norm_legit_no_training _native_multi_head_attention _ncf_unsqueeze _ncf_view _neg_view
    _neg_view_copy _pad_circular _pad_enum _pdist_backward _pdist_forward _philox_key_fold_in _philox_key_split
    _philox_normal _philox_uniform _prelu_kernel _prelu_kernel_backward _reshape_alias _reshape_alias_copy
    _reshape_copy _reshape_from_tensor _resize_output _rowwise_prune _safe_softmax _saturate_weight_to_fp16
    _scaled_dot_product_attention_math _scaled_dot_product_cudnn_attention
    _scaled_dot_product_cudnn_attention_backward _scaled_dot_product_efficient_attention
    _scaled_dot_product_efficient_attention_backward _scaled_dot_product_flash_attention
    _scaled_dot_product_flash_attention_backward _scaled_dot_product_fused_attention_overrideable
    _scaled_dot_product_fused_attention_overrideable_backward _scaled_grouped_mm _scaled_grouped_mm_v2 _scaled_mm
    _scaled_mm_v2 _shape_as_tensor _slow_conv2d_backward _slow_conv2d_forward _softmax _softmax_backward_data _spdiags
    _spsolve _stack _to_copy _transform_bias_rescale_qkv _transformer_encoder_layer_fwd _trilinear
    _triton_multi_head_attention _triton_scaled_dot_attention _unique _unique2 _unpack_dual _unsafe_index
    _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate _unsafe_view _upsample_bicubic2d_aa
    _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa
    _upsample_lanczos2d_aa_backward _upsample_nearest_exact1d _upsample_nearest_exact1d_backward
    _upsample_nearest_exact2d _upsample_nearest_exact2d_backward _upsample_nearest_exact3d
    _upsample_nearest_exact3d_backward _values _weight_int8pack_mm _weight_norm _weight_norm_differentiable_backward
    _weight_norm_interface _weight_norm_interface_backward _wrapped_linear_prepack abs absolute acos acosh
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_avg_pool3d_backward adaptive_max_pool1d
    adaptive_max_pool2d adaptive_max_pool2d_backward adaptive_max_pool3d adaptive_max_pool3d_backward add addbmm
    addcdiv addcmul addmm addmv addr adjoint affine_grid_generator affine_grid_generator_backward alias alias_copy all
    alpha_dropout amax amin aminmax angle any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
    argmin argsort argwhere as_strided as_strided_copy as_strided_scatter as_tensor asin asinh atan atan2 atanh
    atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward baddbmm
    bartlett_window batch_norm batch_norm_backward batch_norm_backward_elemt batch_norm_backward_reduce
    batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
    batch_norm_update_stats bernoulli bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bilinear
    binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits bincount binomial bitwise_and
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag bmm
    broadcast_in_dim broadcast_tensors broadcast_to bucketize cartesian_prod cat cauchy cbrt cdist ceil celu
    chain_matmul chalf channel_shuffle cholesky cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp
    clip clone col2im collapse collapse_view column_stack combinations complex concat concatenate conj conj_physical
    constant_pad_nd constrain_range contiguous conv1d conv2d conv3d conv_depthwise3d conv_tbc conv_tbc_backward
    conv_transpose1d conv_transpose2d conv_transpose3d convert_element_type convolution convolution_backward
    convolution_backward_overrideable convolution_overrideable copy copy_strided copy_to copysign corrcoef cos cosh
    cosine_embedding_loss cosine_similarity count_nonzero cov cpu cross cross_entropy_loss cuda
    cudnn_affine_grid_generator cudnn_affine_grid_generator_backward cudnn_batch_norm cudnn_batch_norm_backward
    cudnn_convolution cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler
    cudnn_grid_sampler_backward cummax cummaxmin_backward cummin cumprod cumprod_backward cumsum cumulative_trapezoid
    deg2rad det detach detach_copy device_put diag diag_embed diagflat diagonal diagonal_backward diagonal_copy
    diagonal_scatter dict diff digamma dist div divide dot dropout dsplit dstack einsum elu elu_backward embedding
    embedding_backward embedding_bag embedding_dense_backward embedding_renorm empty empty_like empty_permuted
    empty_strided eq erf erf_inv erfc erfcx erfinv exp exp2 expand expand_as expand_copy expm1 exponential eye
    feature_alpha_dropout feature_dropout fft_c2c fft_c2r fft_fft fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft
    fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft
    fft_irfft2 fft_irfftn fft_r2c fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fill fix flatten flatten_dense_tensors
    flex_attention flex_attention_backward flex_decoding flip fliplr flipud float_power floor floor_divide fmax fmin
    fmod frac fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d
    fractional_max_pool3d_backward frexp frobenius_norm full full_like fused_moving_avg_obs_fake_quant gather
    gather_backward gcd ge gelu gelu_backward geometric geqrf ger get_gradients glu glu_backward glu_backward_jvp
    glu_jvp grad gradient greater greater_equal grid_sampler grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d
    grid_sampler_3d_backward group_norm gt hamming_window hann_window hardshrink hardshrink_backward hardsigmoid
    hardsigmoid_backward hardswish hardswish_backward hardtanh hardtanh_backward hash_tensor heaviside
    hinge_embedding_loss histc histogram histogramdd hsplit hspmm hstack huber_loss huber_loss_backward hypot i0
    igamma igammac im2col imag index index_add index_copy index_fill index_put index_reduce index_select
    index_select_backward indices inductor_lookup_seed inductor_random inductor_seeds
    infinitely_differentiable_gelu_backward inner instance_norm int_repr inverse iota isclose isfinite isin isinf
    isnan isneginf isposinf isreal istft items kaiser_window keys kl_div kron kthvalue l1_loss layer_norm lcm ldexp le
    leaky_relu leaky_relu_backward lerp less less_equal lgamma lift lift_fresh lift_fresh_copy linalg__powsum
    linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eig linalg_eigh
    linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor
    linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve
    linalg_matmul linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_multi_dot
    linalg_norm linalg_pinv linalg_qr linalg_slogdet linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd
    linalg_svdvals linalg_tensorinv linalg_tensorsolve linalg_vander linalg_vecdot linalg_vector_norm linear
    linear_backward linspace log log10 log1p log2 log_normal log_sigmoid log_sigmoid_backward log_sigmoid_forward
    log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit
    logit_backward logspace logsumexp lookup_seed lt lu_solve lu_unpack mH mT margin_ranking_loss masked_fill
    masked_scatter masked_scatter_backward masked_select masked_select_backward matmul matmul_backward matrix_H
    matrix_exp matrix_exp_backward matrix_power max max_pool1d max_pool2d max_pool2d_backward
    max_pool2d_with_indices_backward max_pool3d max_pool3d_with_indices_backward max_unpool2d max_unpool3d maximum
    mean median meshgrid min minimum miopen_batch_norm miopen_batch_norm_backward miopen_convolution
    miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose miopen_depthwise_convolution mish
    mish_backward mm mm_plus_mm mode moveaxis movedim mse_loss mse_loss_backward msort mul multi_margin_loss
    multi_margin_loss_backward multilabel_margin_loss multilabel_margin_loss_backward multilabel_margin_loss_forward
    multinomial multiply mv mvlgamma nan_to_num nanmean nanmedian nanquantile nansum narrow narrow_copy
    native_batch_norm native_batch_norm_backward native_channel_shuffle native_dropout native_dropout_backward
    native_group_norm native_group_norm_backward native_layer_norm native_layer_norm_backward native_norm ndtri ne neg
    negative new_empty new_empty_strided new_full new_ones new_zeros nextafter nll_loss nll_loss2d nll_loss2d_backward
    nll_loss2d_forward nll_loss_backward nll_loss_forward nll_loss_nd nonzero nonzero_numpy nonzero_static norm
    norm_except_dim normal normal_functional not_equal nuclear_norm numpy_T one_hot ones ones_like orgqr ormqr outer
    pad pad_sequence pairwise_distance pdist permute permute_copy pinverse pixel_shuffle pixel_unshuffle poisson
    poisson_nll_loss polar polygamma popitem positive pow prelu prod put q_per_channel_scales
    q_per_channel_zero_points qr quantile rad2deg rand rand_like randint randint_like randn randn_like random randperm
    range ravel real reciprocal reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward
    reflection_pad3d reflection_pad3d_backward relu relu6 remainder renorm repeat repeat_interleave replication_pad1d
    replication_pad1d_backward replication_pad2d replication_pad2d_backward replication_pad3d
    replication_pad3d_backward reshape reshape_as resize resize_as rev rms_norm roll rot90 round row_stack rrelu
    rrelu_with_noise rrelu_with_noise_backward rrelu_with_noise_functional rsqrt rsub scalar_tensor
    scaled_dot_product_attention scaled_mm scatter scatter_add scatter_reduce searchsorted seeds select
    select_backward select_copy select_scatter selu sgn shift_left shift_right_arithmetic sigmoid sigmoid_backward
    sign signbit silu silu_backward sin sinc sinh slice slice_backward slice_copy slice_inverse slice_scatter slogdet
    slow_conv3d slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d
    slow_conv_transpose3d smm smooth_l1_loss smooth_l1_loss_backward soft_margin_loss soft_margin_loss_backward
    softmax softplus softplus_backward softshrink softshrink_backward sort sorted special_airy_ai special_bessel_j0
    special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma special_entr special_erf special_erfc
    special_erfcx special_erfinv special_exp2 special_expit special_expm1 special_gammainc special_gammaincc
    special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p special_log_ndtr special_log_softmax
    special_logit special_logsumexp special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_multigammaln special_ndtr special_ndtri special_polygamma special_psi
    special_round special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc special_softmax
    special_spherical_bessel_j0 special_xlog1py special_xlogy special_zeta spherical_bessel_j0 split split_copy
    split_dim split_with_sizes split_with_sizes_copy sqrt square squeeze squeeze_copy sspaddmm stack std std_mean stft
    sub subtract sum sum_to_size svd swapaxes swapdims sym_size t t_copy take take_along_dim tan tanh tanh_backward
    tensor tensor_split tensordot thnn_conv2d threshold threshold_backward tile to to_padded_tensor topk trace
    trace_backward transpose transpose_copy trapezoid trapz triangular_solve tril triplet_margin_loss triu true_divide
    trunc type_as unbind unbind_copy unflatten unflatten_dense_tensors unfold unfold_backward unfold_copy uniform
    unique_consecutive unique_dim unique_dim_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze
    unsqueeze_copy upsample_bicubic2d upsample_bicubic2d_backward upsample_bilinear2d upsample_bilinear2d_backward
    upsample_linear1d upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d
    upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward upsample_trilinear3d
    upsample_trilinear3d_backward value_selecting_reduction_backward values values_copy vander var var_mean vdot view
    view_as view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy view_of view_of_dtype vsplit
    vstack where xlogy xor_sum zero zeros zeros_like zeta
    """.split()  # noqa: SIM905 - a list of words reads best as words
)
