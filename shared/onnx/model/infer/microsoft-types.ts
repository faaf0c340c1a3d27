/** The types of ONNX Runtime's own operators, in the form of `operator-types.ts`. Written with it; not to be edited. */
export const microsoftTypes = `
com.microsoft:Attention:1:T,T,T,int32,T,T,int32>T,T>T
com.microsoft:AttnLSTM:1:T,T,T,T,int32,T,T,T,T,T,T,T,int32,T>T,T,T>
com.microsoft:BeamSearch:1:F,int32,int32,int32,int32,T,T,int32,int32,int32,int32,int32>int32,T,T>F T
com.microsoft:BiasAdd:1:T,T,T>T>T
com.microsoft:BiasDropout:1:T,T,T,T1,bool>T,bool>T T1
com.microsoft:BiasGelu:1:T,T>T>T
com.microsoft:BiasSoftmax:1:T,T>T>T
com.microsoft:BiasSplitGelu:1:T,T>T>T
com.microsoft:BifurcationDetector:1:int64,int64,int64,int64>int64,int64>
com.microsoft:BitmaskBiasDropout:1:T,T,T,T1,bool>T,uint32>T T1
com.microsoft:BitmaskDropout:1:T,T1,bool>T,uint32>T T1
com.microsoft:BranchwiseRMSNorm:1:T,M>T>T M
com.microsoft:CDist:1:T,T>T>
com.microsoft:CausalConvWithState:1:T,T,T,T>T,T,T>T
com.microsoft:ComplexMul:1:T,T>T>T
com.microsoft:ComplexMulConj:1:T,T>T>T
com.microsoft:ConvStateReplay:1:T,T,T,int64>T>T
com.microsoft:ConvTransposeWithDynamicPads:1:T,T,int64,T>T>T
com.microsoft:CropAndResize:1:T1,T1,int32,int32>T1>T1
com.microsoft:DecoderAttention:1:T,T,T,T,T,bool,T,T,bool,bool,bool,bool>T,T,T>T
com.microsoft:DecoderMaskedMultiHeadAttention:1:T,T,T,int32,T,T,T,int32,int32,int32,T>T,T,T,QK>T QK
com.microsoft:DecoderMaskedSelfAttention:1:T,T,T,int32,T,T,int32,int32,int32>T,T>T
com.microsoft:DequantizeBFP:1:uint8,int64,int64>T3@dtype>T3
com.microsoft:DequantizeLinear:1:T1,T2,T1>T2>T2
com.microsoft:DequantizeWithOrder:1:int8,float>F@to>F
com.microsoft:DynamicQuantizeLSTM:1:float,T2,T2,float,int32,float,float,float,float,T2,float,T2>float,float,float>
com.microsoft:DynamicQuantizeMatMul:1:float,T2,float,T2,float>float>
com.microsoft:DynamicSparseAttention:1:TQuery,TQuery,TValue,TCache,TCache,T,T,int32,int32,int32,int32,T,T,int64,T,T,T,int32,float,float>T,TCache,TCache,int32>TQuery TValue TCache T
com.microsoft:DynamicTimeWarping:1:float>int32>
com.microsoft:EPContext:1:T!>T!>T
com.microsoft:EmbedLayerNormalization:1:int32,int32,T,T,T,T,T,int32,int32>T,int32,T>T
com.microsoft:EngramGate:1:T,T,T,T,T,T>T,T>T
com.microsoft:ExpandDims:1:T,int32>T>T
com.microsoft:FastGelu:1:T,T>T>T
com.microsoft:FusedConv:1:T,T,T,T>T>T
com.microsoft:FusedGemm:1:T,T,T>T>T
com.microsoft:FusedMatMul:1:T,T>T>T
com.microsoft:FusedMatMulActivation:1:T,T>T>T
com.microsoft:GatedAdd:1:T,T,T,T>T>T
com.microsoft:GatedDeltaNet:1:T,T,T,int32,TG,TG,float,float,float,int32,int32>T,float,float>T TG
com.microsoft:GatedDeltaNetStateReplay:1:float,float,float,int64>float>
com.microsoft:GatedRMSNorm:1:T,T,T>T>T
com.microsoft:GatedRelativePositionBias:1:T,T,T,T,T,T,int32>T>T
com.microsoft:GatherBlockQuantized:1:T1,Tind,T2,T1>T2>T2
com.microsoft:GatherND:1:T,Tind>T>T
com.microsoft:GatherPacked:1:uint8,Tind>T2@output_dtype>T2
com.microsoft:Gelu:1:T>T>T
com.microsoft:GemmFastGelu:1:T,T,T>T>T
com.microsoft:GemmFloat8:1:TA,TB,TC,float,float,float>TR@dtype>TA TB TC TR
com.microsoft:GemmaRotaryEmbedding:1:float,float16,float16,float16,float16>float16,float16>
com.microsoft:GreedySearch:1:int32,int32,int32,float,int32,int32,int32>int32>
com.microsoft:GridSample:1:T1,T1>T2>T1 T2
com.microsoft:GroupNorm:1:T,M,M>T>T M
com.microsoft:GroupQueryAttention:1:T,T,T,T_CACHE,T_CACHE,int32,int32,T,T,int64,T,T,float,float,T,T,int32>T,T_CACHE,T_CACHE,T>T T_CACHE
com.microsoft:HyperConnectionLowRankMix:1:T,T,T,T,T,T,T>T,T,T>T
com.microsoft:HyperConnectionPostMix:1:T,T,M,M>T>T M
com.microsoft:HyperConnectionPreMix:1:T,M>T>T M
com.microsoft:Inverse:1:T>T>T
com.microsoft:Irfft:1:T>T>T
com.microsoft:IsAllFinite:1:V*>bool>V
com.microsoft:LinearAttention:1:T,T,T,S,T,T>T,S>T S
com.microsoft:LinearAttentionGate:1:T,float,float,T>T,T>T
com.microsoft:LongformerAttention:1:T,T,T,T,T,T,int32>T>T
com.microsoft:MRotaryEmbedding:1:T,int64,T,T>T>T
com.microsoft:Mamba2Verify:1:bfloat16,bfloat16,float,bfloat16,bfloat16,float,float,float,float,int32>bfloat16,bfloat16,float,bfloat16,float>
com.microsoft:MatMulBlockQuantizedFp4Weight:1:T,uint8,uint8,float,float,T>T>T
com.microsoft:MatMulBlockQuantizedFp8Weight:1:T,float8e4m3fn,float,float,T>T>T
com.microsoft:MatMulBnb4:1:T1,uint8,T1>T1>T1
com.microsoft:MatMulFpQ4:1:float,uint8,int64>float>
com.microsoft:MatMulInteger16:1:T1,T2>T3>
com.microsoft:MatMulIntegerToFloat:1:T1,T2,T3,T3,T1,T2,T3>T3>T3
com.microsoft:MatMulNBits:1:T1,uint8,T1,T3,int32,T1>T1>T1 T3
com.microsoft:MatMulNBitsMlp:1:T1,T1,T1,uint8,T1,T1,uint8,T1,T1>T1,T1>T1
com.microsoft:MatMulNBitsQLoRA:1:T,uint8,T,uint8,T,uint8,T>T>T
com.microsoft:MatMulNBitsQkv:1:T1,T1,T1,uint8,T1,T1,uint8,T1,T1,uint8,T1,T1>T1,T1,T1,T1>T1
com.microsoft:MatMulPacked:1:T1,uint8,float>T1>T1
com.microsoft:MaxpoolWithMask:1:float,int32>float>
com.microsoft:MoE:1:T,T,T,T,T,T,T,T>T>T
com.microsoft:MoEGroupRouter:1:T,float,T>T,float,float>T
com.microsoft:MoEPacked:1:T,TR,uint8,uint8,uint8,TR>T>T TR
com.microsoft:MulInteger:1:T,T,T,T>int32>
com.microsoft:MultiHeadAttention:1:T,T,T,T,int32,T,T,T,int32,int32>T,T,T,QK>T QK
com.microsoft:MurmurHash3:1:T1>T2>
com.microsoft:NGramHashMapping:1:M,M,M,M,M,M,int32>M,M>
com.microsoft:NGramRepeatBlock:1:int64,float>float>
com.microsoft:NhwcConv:1:T,T,T>T>T
com.microsoft:NhwcFusedConv:1:T,T,T,T>T>T
com.microsoft:NhwcMaxPool:1:T>T>
com.microsoft:PackedAttention:1:T,T,T,int32,int32,T>T>T
com.microsoft:PackedMultiHeadAttention:1:T,T,T,T,int32,int32,T>T>T
com.microsoft:PackedSparseAttentionIndexer:1:T,T,T,T,T,T,int32,int32,T,T,T,int64,T_KEY,T,T,int32,int32,int32,int32,int32,int32,int32>int32,int32,T_KEY,T,T,int32,T,int32,int32>T T_KEY
com.microsoft:PackedSparseAttentionIndexerMerge:1:int32,int32,int32,int32,int32,int32,int32>int32,int32,int32>
com.microsoft:Pad:1:T,int64,T>T>T
com.microsoft:PagedAttention:1:T,T,T,T_CACHE,T_CACHE,int32,int32,int32,T,T,int32,T,T,T,float,float,int32>T,T_CACHE,T_CACHE>T T_CACHE
com.microsoft:QAttention:1:T1,T2,T3,T3,T3,int32,T1,T2,T3>T3,T3>T3
com.microsoft:QEmbedLayerNormalization:1:int32,int32,T2,T2,T2,T2,T2,int32,float,float,float,float,float,T2,T2,T2,T2,T2>float,int32>
com.microsoft:QGemm:1:TA,float,TA,TB,float,TB,int32,float,TYZ>TY>
com.microsoft:QLinearAdd:1:T,float,T,T,float,T,float,T>T>
com.microsoft:QLinearAveragePool:1:T,float,T,float,T>T>
com.microsoft:QLinearConcat:1:float,T8,TV!>T8>
com.microsoft:QLinearConv:1:T1,float,T1,T2,float,T2,float,T3,int32>T3>
com.microsoft:QLinearGlobalAveragePool:1:T,float,T,float,T>T>
com.microsoft:QLinearLeakyRelu:1:T,float,T,float,T>T>
com.microsoft:QLinearMul:1:T,float,T,T,float,T,float,T>T>
com.microsoft:QLinearReduceMean:1:T,float,T,float,T>T>
com.microsoft:QLinearSigmoid:1:T,float,T,float,T>T>
com.microsoft:QLinearSoftmax:1:T,float,T,float,T>T>
com.microsoft:QLinearWhere:1:bool,T,float,T,T,float,T,float,T>T>
com.microsoft:QMoE:1:T,T,T1,T2,T,T1,T2,T,T1,T2,T,T1,T1,T1,T,float,float,float,float,T2,T2>T>T T2
com.microsoft:QOrderedAttention:1:int8,float,float,float,float,int8,int8,int8,float,float,float,float,float,float,float,float,float,int32,int8,float>int8>
com.microsoft:QOrderedGelu:1:int8,float,float>int8>
com.microsoft:QOrderedLayerNormalization:1:int8,float,F,F,float>int8>F
com.microsoft:QOrderedLongformerAttention:1:int8,float,int8,float,float,float,float,float16,int8,float,float,float,int32,float>int8>
com.microsoft:QOrderedMatMul:1:int8,float,int8,float,float,float,int8,float>int8>
com.microsoft:QuantizeBFP:1:T1>uint8,int64,int64>T1
com.microsoft:QuantizeLinear:1:T1,T1,T2>T2>T1
com.microsoft:QuantizeWithOrder:1:F,float>int8>F
com.microsoft:QuickGelu:1:T>T>T
com.microsoft:RMSNormRotary:1:T,float,int64,TCos,TCos,int32>TOut,float>T TOut
com.microsoft:Range:1:T,T,T>T>
com.microsoft:ReduceSumInteger:1:T1>T2>
com.microsoft:RelativePositionBias:1:T,int64,int64>T>T
com.microsoft:RemovePadding:1:T,int32>T,int32,int32,int32>T
com.microsoft:RestorePadding:1:T,int32>T>T
com.microsoft:Rfft:1:T>T>T
com.microsoft:RotaryEmbedding:1:T,int64,T,T>T>T
com.microsoft:RouterGateUpProj:1:T,T>T,T>T
com.microsoft:SampleOp:1:T>T>T
com.microsoft:Sampling:1:int32,int32,int32,float,int32,int32,int32,int32,int32>int32,float>
com.microsoft:ScaledSiLU:1:T,M>T>T M
com.microsoft:SkipGroupNorm:1:T,M,M,T,T>T,T>T M
com.microsoft:SkipLayerNormalization:1:T,T,T,T,T>T,float,float,T>T
com.microsoft:SkipSimplifiedLayerNormalization:1:T,T,T,T>T,float,float,T>T
com.microsoft:Snpe:1:T*>T*>
com.microsoft:SparseAttention:1:T,T,T,T,T,int32,int32,int32,int32,T,T>T,T,T>T
com.microsoft:SparseAttentionIndexer:1:T,T,T,T,T,T,int64,T,T,T,T,int64,int32,T>int32,T,T>T
com.microsoft:SparsePagedAttention:1:T,T,T,T_CACHE,T_CACHE,int32,int32,int32,int32,int32,int32,T,T,int32,T,T,T,T,T,float,float,int32>T,T_CACHE,T_CACHE>T T_CACHE
com.microsoft:SparseToDenseMatMul:1:T,T1>T1>
com.microsoft:SpeculativePrefixCommit:1:int64,int64,int32,int64,int64,int64,int64>int32,int64,int64>
com.microsoft:SwiGLU:1:T,T>T>T
com.microsoft:Tokenizer:1:string>string>
com.microsoft:TorchEmbedding:1:T,int64,int64,bool>T>T
com.microsoft:TransposeMatMul:1:T,T>T>T
com.microsoft:Trilu:1:T,int64>T>T
com.microsoft:UnfoldTensor:1:T>T>T
com.microsoft:Unique:1:T>T,int64,int64>T
com.microsoft:VarlenCausalConvWithState:1:T,T,int32,T,T,int32,T,T>T,T,T>T
com.microsoft:VarlenNGramHashMapping:1:M,M,M,int32,M,M,M,int32,int32,int32>M,M,int32,M>
com.microsoft:WhisperBeamSearch:1:F,int32,int32,int32,int32,T,T,int32,int32,int32,int32,int32,int32,int32,T>int32,T,T,float,T>F T
com.microsoft:WordConvEmbedding:1:int32,float,float,float>float>
`;
