/** An image processor of `transformers`: what it does where a file does not say. */
export interface Processor {
  size: number;
  /** Whether a size of one number is that of both sides, and not of the shorter one. */
  isSquare: boolean;
  /** Number of a filter of Pillow. */
  resample: number;
  /** Side of the middle. Null if the whole picture is taken. */
  crop: number | null;
  mean: Channels;
  std: Channels;
  isNormalized?: boolean;
  isBgr?: boolean;
  /** Whether `include_top` divides by the deviation once more. */
  isTwice?: boolean;
  /** How it enlarges the size before the middle is taken. */
  rule?: 'convnext' | 'levit';
}

type Channels = readonly [red: number, green: number, blue: number];

const halves = { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] } as const;
const imageNet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } as const;
const clip = {
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
} as const;
const bilinear = 2;
const bicubic = 3;

/** Defaults of transformers 5.24, by the name of the class. */
const processors: Readonly<Record<string, Processor>> = {
  Beit: { size: 224, isSquare: true, resample: bicubic, crop: null, ...halves },
  Bit: { size: 224, isSquare: false, resample: bicubic, crop: 224, ...clip },
  CLIP: { size: 224, isSquare: false, resample: bicubic, crop: 224, ...clip },
  ConvNext: { size: 384, isSquare: false, resample: bicubic, crop: null, ...halves, rule: 'convnext' },
  DeiT: { size: 256, isSquare: true, resample: bicubic, crop: 224, ...halves },
  EfficientNet: { size: 346, isSquare: true, resample: bicubic, crop: null, ...halves, isTwice: true },
  Levit: { size: 224, isSquare: false, resample: bicubic, crop: 224, ...imageNet, rule: 'levit' },
  MobileNetV1: { size: 256, isSquare: false, resample: bilinear, crop: 224, ...halves },
  MobileNetV2: { size: 256, isSquare: false, resample: bilinear, crop: 224, ...halves },
  MobileViT: {
    size: 224,
    isSquare: false,
    resample: bicubic,
    crop: 256,
    ...halves,
    isNormalized: false,
    isBgr: true,
  },
  Pvt: { size: 224, isSquare: true, resample: bicubic, crop: null, ...imageNet },
  Segformer: { size: 512, isSquare: true, resample: bilinear, crop: null, ...imageNet },
  Siglip: { size: 224, isSquare: true, resample: bicubic, crop: null, ...halves },
  ViT: { size: 224, isSquare: true, resample: bilinear, crop: null, ...halves },
};

/** Processors of models whose file does not name one, by `model_type` of `config.json`. */
const ofModels: Readonly<Record<string, string>> = {
  beit: 'Beit',
  bit: 'Bit',
  clip: 'CLIP',
  convnext: 'ConvNext',
  convnextv2: 'ConvNext',
  cvt: 'ConvNext',
  'data2vec-vision': 'Beit',
  deit: 'DeiT',
  dinov2: 'Bit',
  efficientnet: 'EfficientNet',
  focalnet: 'Bit',
  levit: 'Levit',
  mobilenet_v1: 'MobileNetV1',
  mobilenet_v2: 'MobileNetV2',
  mobilevit: 'MobileViT',
  mobilevitv2: 'MobileViT',
  pvt: 'Pvt',
  pvt_v2: 'Pvt',
  regnet: 'ConvNext',
  resnet: 'ConvNext',
  segformer: 'Segformer',
  siglip: 'Siglip',
  swin: 'ViT',
  swinv2: 'ViT',
  vit: 'ViT',
  vit_msn: 'ViT',
};

/** Find a processor by its class, such as `ViTImageProcessorFast` or `ViTFeatureExtractor`, or by the type of the model. */
export function processorOf(name: string | undefined, model: string | undefined): Processor | undefined {
  const known = model !== undefined && Object.hasOwn(ofModels, model) ? ofModels[model] : undefined;
  const stem = name?.replace(/(?:FeatureExtractor|ImageProcessor)(?:Fast|Pil)?$/, '') ?? known ?? '';
  return Object.hasOwn(processors, stem) ? processors[stem] : undefined;
}
