/**
 * Written by derive_operator_types.py of onnx 1.23.2 and onnxruntime 1.32.0; not to be edited.
 *
 * `domain:operator:version:inputs>outputs>halves`, a line for each version that changed one of them. A type is that of
 * an element, a variable that several parameters share, or `-` for what is no tensor. `*` repeats a parameter, `!` does
 * with another type each time, `@` names the attribute that tells the type, with its default. Variables of `halves` may be float16.
 */
export const operatorTypes = `
:Abs:1:T>T>T
:Acos:7:T>T>T
:Acosh:9:T>T>T
:Add:1:T,T>T>T
:Affine:1:T>T>T
:Affine:10:>>
:AffineGrid:20:T1,int64>T1>T1
:And:1:bool,bool>bool>
:ArgMax:1:T>int64>T
:ArgMin:1:T>int64>T
:Asin:7:T>T>T
:Asinh:9:T>T>T
:Atan:7:T>T>T
:Atanh:9:T>T>T
:Attention:23:T1,T1,T2,U,T1,T2>T1,T1,T2,T1>T1 T2 U
:Attention:24:T1,T1,T2,U,T1,T2,int64>T1,T1,T2,T1>T1 T2 U
:AveragePool:1:T>T>T
:BatchNormalization:1:T,T,T,T,T>T,T,T,T,T>T
:BatchNormalization:14:T,T,T,U,U>T,U,U>T U
:BatchNormalization:15:T,T1,T1,T2,T2>T,T2,T2>T T1 T2
:Bernoulli:15:T1>T2@dtype>T1 T2
:BitCast:26:T1>T2@to>T1 T2
:BitShift:11:T,T>T>
:BitwiseAnd:18:T,T>T>
:BitwiseNot:18:T>T>
:BitwiseOr:18:T,T>T>
:BitwiseXor:18:T,T>T>
:BlackmanWindow:17:T1>T2@output_datatype=1>T2
:Cast:1:T1>T2@to>T1 T2
:CastLike:15:T1,T2>T2>T1 T2
:CausalConvWithState:27:T,T,T,T>T,T>T
:Ceil:1:T>T>T
:Celu:12:float>float>
:Celu:28:T>T>T
:CenterCropPad:18:T,Tind>T>T
:Clip:1:T>T>T
:Clip:11:T,T,T>T>T
:Col2Im:18:T,int64,int64>T>T
:Compress:9:T,bool>T>T
:Concat:1:T*>T>T
:ConcatFromSequence:11:S>T>T
:Constant:1:>T>T
:ConstantOfShape:9:int64>T2>T2
:Conv:1:T,T,T>T>T
:ConvInteger:10:T1,T2,T1,T2>int32>
:ConvTranspose:1:T,T,T>T>T
:Cos:7:T>T>T
:Cosh:9:T>T>T
:Crop:1:T>T>T
:Crop:10:>>
:CumProd:26:T,T2>T>T
:CumSum:11:T,T2>T>
:CumSum:14:T,T2>T>T
:DFT:17:T1,T2>T1>T1
:DFT:20:T1,T2,int64>T1>T1
:DeformConv:19:T,T,T,T,T>T>T
:DepthToSpace:1:T>T>T
:DequantizeLinear:10:T,float,T>float>
:DequantizeLinear:19:T1,T2,T1>T2>T2
:DequantizeLinear:23:T1,T2,T1>T3@output_dtype>T2 T3
:Det:11:T>T>T
:DisentangledAttention_TRT:1:T,T,T>T>T
:Div:1:T,T>T>T
:Dropout:1:T>T,T>T
:Dropout:10:T>T,bool>T
:Dropout:12:T,T1,bool>T,bool>T T1
:DynamicQuantizeLinear:11:float>uint8,float,uint8>
:DynamicSlice:1:T,Tind,Tind,Tind>T>T
:DynamicSlice:10:>>
:EfficientNMS_TRT:1:T,T,T>int32,T,T,int32>T
:Einsum:12:T*>T>T
:Elu:1:T>T>T
:Equal:1:T,T>bool>
:Equal:11:T,T>bool>T
:Erf:9:T>T>T
:Exp:1:T>T>T
:Expand:8:T,int64>T>T
:EyeLike:9:T1>T2@dtype>T1 T2
:Flatten:1:T>T>T
:Floor:1:T>T>T
:GRU:1:T,T,T,T,int32,T>T,T>T
:GRUUnit:1:T,T,T,T>T>T
:GRUUnit:10:>>
:Gather:1:T,Tind>T>T
:GatherElements:11:T,Tind>T>T
:GatherND:11:T,int64>T>T
:Gelu:20:T>T>T
:Gemm:1:T,T,T>T>T
:GivenTensorFill:1:T>T>T
:GivenTensorFill:10:>>
:GlobalAveragePool:1:T>T>T
:GlobalLpPool:1:T>T>T
:GlobalMaxPool:1:T>T>T
:Greater:1:T,T>bool>T
:GreaterOrEqual:12:T,T>bool>T
:GridSample:16:T1,T2>T1>T1 T2
:GroupNormalization:18:T,T,T>T>T
:HammingWindow:17:T1>T2@output_datatype=1>T2
:HannWindow:17:T1>T2@output_datatype=1>T2
:HardSigmoid:1:T>T>T
:HardSwish:14:T>T>T
:Hardmax:1:T>T>T
:Identity:1:T>T>T
:Identity:14:V>V>V
:If:1:bool>V!>V
:ImageDecoder:20:uint8>uint8>
:ImageScaler:1:T>T>T
:ImageScaler:10:>>
:InstanceNormalization:1:T,T,T>T>T
:IsInf:10:T1>bool>
:IsInf:20:T1>bool>T1
:IsNaN:9:T1>bool>T1
:LRN:1:T>T>T
:LSTM:1:T,T,T,T,int32,T,T,T>T,T,T>T
:LayerNormalization:17:T,T,T>T,U,U>T
:LeakyRelu:1:T>T>T
:Less:1:T,T>bool>T
:LessOrEqual:12:T,T>bool>T
:LinearAttention:27:T,T,T,S,T,T>T,S>T S
:Log:1:T>T>T
:LogSoftmax:1:T>T>T
:Loop:1:int64,bool,V!>V!>V
:LpNormalization:1:T>T>T
:LpPool:1:T>T>T
:MatMul:1:T,T>T>T
:MatMulInteger:10:T1,T2,T1,T2>int32>
:Max:1:T*>T>T
:MaxPool:1:T>T>T
:MaxPool:8:T>T,int64>T
:MaxRoiPool:1:T,T>T>T
:MaxUnpool:9:T1,int64,int64>T1>T1
:Mean:1:T*>T>T
:MeanVarianceNormalization:9:T>T>T
:MelWeightMatrix:17:T1,T1,T1,T2,T2>T3@output_datatype=1>T2 T3
:MemcpyFromHost:1:T>T>T
:MemcpyToHost:1:T>T>T
:Min:1:T*>T>T
:Mish:18:T>T>T
:Mod:10:T,T>T>T
:Mul:1:T,T>T>T
:MultilevelCropAndResize_TRT:1:float,float,float,float,float>float>
:Multinomial:7:T1>T2@dtype=6>T1
:Neg:1:T>T>T
:NegativeLogLikelihoodLoss:12:T,Tind,T>T>T
:NonMaxSuppression:10:float,float,int64,float,float>int64>
:NonZero:9:T>int64>T
:Not:1:bool>bool>
:OneHot:9:T1,T2,T3>T3>T1 T2 T3
:Optional:15:V>O>V
:OptionalGetElement:15:O>V>V
:OptionalGetElement:18:O>V>O V
:OptionalHasElement:15:O>bool>
:OptionalHasElement:18:O>bool>O
:Or:1:bool,bool>bool>
:PRelu:1:T,T>T>T
:Pad:1:T>T>T
:Pad:11:T,int64,T>T>T
:Pad:18:T,int64,T,Tind>T>T
:ParametricSoftplus:1:T>T>T
:ParametricSoftplus:10:>>
:Pow:1:T,T>T>T
:Pow:12:T,T1>T>T T1
:PyramidROIAlign_TRT:1:float,float,float,float,float>float>
:QLinearConv:10:T1,float,T1,T2,float,T2,float,T3,int32>T3>
:QLinearMatMul:10:T1,float,T1,T2,float,T2,float,T3>T3>
:QLinearMatMul:21:T1,TS,T1,T2,TS,T2,TS,T3>T3>TS
:QuantizeLinear:10:T1,float,T2>T2>
:QuantizeLinear:19:T1,T1,T2>T2>T1
:QuantizeLinear:21:T1,T1,T2>T2@output_dtype>T1
:QuantizeLinear:23:T1,T2,T3>T3@output_dtype>T1 T2
:RMSNormalization:23:T,V>V>T V
:RNN:1:T,T,T,T,int32,T>T,T>T
:RandomNormal:1:>T@dtype=1>T
:RandomNormalLike:1:T1>T2@dtype>T1 T2
:RandomUniform:1:>T@dtype=1>T
:RandomUniformLike:1:T1>T2@dtype>T1 T2
:Range:11:T,T,T>T>
:Range:27:T,T,T>T>T
:Reciprocal:1:T>T>T
:ReduceL1:1:T>T>T
:ReduceL1:18:T,int64>T>T
:ReduceL2:1:T>T>T
:ReduceL2:18:T,int64>T>T
:ReduceLogSum:1:T>T>T
:ReduceLogSum:18:T,int64>T>T
:ReduceLogSumExp:1:T>T>T
:ReduceLogSumExp:18:T,int64>T>T
:ReduceMax:1:T>T>T
:ReduceMax:18:T,int64>T>T
:ReduceMean:1:T>T>T
:ReduceMean:18:T,int64>T>T
:ReduceMin:1:T>T>T
:ReduceMin:18:T,int64>T>T
:ReduceProd:1:T>T>T
:ReduceProd:18:T,int64>T>T
:ReduceSum:1:T>T>T
:ReduceSum:13:T,int64>T>T
:ReduceSumSquare:1:T>T>T
:ReduceSumSquare:18:T,int64>T>T
:RegexFullMatch:20:string>bool>
:Relu:1:T>T>T
:Reshape:1:T>T>T
:Reshape:5:T,int64>T>T
:Resize:10:T,float>T>T
:Resize:11:T1,T2,float,int64>T1>T1 T2
:ReverseSequence:10:T,int64>T>T
:RoiAlign:10:T1,T1,int64>T1>T1
:RotaryEmbedding:23:T,T,T,int64>T>T
:Round:11:T>T>T
:STFT:17:T1,T2,T1,T2>T1>T1
:Scale:1:T>T>T
:Scale:10:>>
:ScaledTanh:1:T>T>T
:ScaledTanh:10:>>
:Scan:8:int64,V!>V!>V
:Scan:9:V!>V!>V
:Scatter:9:T,Tind,T>T>T
:ScatterElements:11:T,Tind,T>T>T
:ScatterND:11:T,int64,T>T>T
:Selu:1:T>T>T
:SequenceAt:11:S,I>T>T
:SequenceConstruct:11:T*>S>T
:SequenceEmpty:11:>S@dtype>
:SequenceErase:11:S,I>S>
:SequenceInsert:11:S,T,I>S>T
:SequenceLength:11:S>int64>
:SequenceMap:17:S,V!>S!>V
:Shape:1:T>int64>T
:Shrink:9:T>T>T
:Sigmoid:1:T>T>T
:Sign:9:T>T>T
:SimplifiedLayerNormalization:1:T,V>V,U>T V
:Sin:7:T>T>T
:Sinh:9:T>T>T
:Size:1:T>int64>T
:Slice:1:T>T>T
:Slice:10:T,Tind,Tind,Tind,Tind>T>T
:Softmax:1:T>T>T
:SoftmaxCrossEntropyLoss:12:T,Tind,T>T,T>T
:Softplus:1:T>T>T
:Softsign:1:T>T>T
:SpaceToDepth:1:T>T>T
:Split:1:T,T>T*>T
:Split:2:T>T*>T
:Split:13:T,int64>T*>T
:SplitToSequence:11:T,I>S>T
:Sqrt:1:T>T>T
:Squeeze:1:T>T>T
:Squeeze:13:T,int64>T>T
:StringConcat:20:string,string>string>
:StringNormalizer:10:string>string>
:StringSplit:20:string>string,int64>
:Sub:1:T,T>T>T
:Sum:1:T*>T>T
:SwiGLU:28:T,T>T>T
:Swish:24:T>T>T
:Tan:7:T>T>T
:Tanh:1:T>T>T
:TensorScatter:24:T,T,int64>T>T
:TfIdfVectorizer:9:T>float>
:ThresholdedRelu:10:T>T>T
:Tile:1:T,T,T>T>T
:Tile:6:T,int64>T>T
:TopK:1:T>T,int64>T
:TopK:10:T,int64>T,int64>T
:Transpose:1:T>T>T
:Trilu:14:T,int64>T>T
:Unique:11:T>T,int64,int64,int64>T
:Unsqueeze:1:T>T>T
:Unsqueeze:13:T,int64>T>T
:Upsample:1:T>T>T
:Upsample:9:T,float>T>T
:Where:9:bool,T,T>T>T
:Xor:1:bool,bool>bool>
ai.onnx.ml:ArrayFeatureExtractor:1:T,int64>T>
ai.onnx.ml:Binarizer:1:T>T>
ai.onnx.ml:CastMap:1:T1>T2>
ai.onnx.ml:CategoryMapper:1:T1>T2>
ai.onnx.ml:DictVectorizer:1:T1>T2>
ai.onnx.ml:FeatureVectorizer:1:T1*>float>
ai.onnx.ml:Imputer:1:T>T>
ai.onnx.ml:LabelEncoder:1:T1>T2>
ai.onnx.ml:LinearClassifier:1:T1>T2,float>
ai.onnx.ml:LinearRegressor:1:T>float>
ai.onnx.ml:Normalizer:1:T>float>
ai.onnx.ml:OneHotEncoder:1:T>float>
ai.onnx.ml:SVMClassifier:1:T1>T2,float>
ai.onnx.ml:SVMRegressor:1:T>float>
ai.onnx.ml:Scaler:1:T>float>
ai.onnx.ml:TreeEnsemble:5:T>T>T
ai.onnx.ml:TreeEnsembleClassifier:1:T1>T2,float>
ai.onnx.ml:TreeEnsembleRegressor:1:T>float>
ai.onnx.ml:ZipMap:1:float>T>
ai.onnx.preview:FlexAttention:1:T1,T1,T1>T1>T1
ai.onnx.preview.training:Adagrad:1:T1,int64,T3!>T3!>
ai.onnx.preview.training:Adam:1:T1,int64,T3!>T3!>
ai.onnx.preview.training:Gradient:1:T1!>T2!>T1 T2
ai.onnx.preview.training:Momentum:1:T1,int64,T3!>T3!>
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
