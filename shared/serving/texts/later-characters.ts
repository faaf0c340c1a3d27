/*
 * Characters that are later than the tables of the Rust library, as members of a class of an expression. To it they are no marks
 * and have no other form. `npm run proof -- exports --tokenizers` compares them.
 */

/** Later than Unicode 9, whose forms (NFC …) and marks the library knows. */
export const laterThan9 = [
  String.raw`\u07fd\u0897-\u089f\u08ca-\u08d3\u09fe\u0afa-\u0aff\u0b55\u0c04\u0c3c\u0cf3\u0d00\u0d3b\u0d3c\u0d81\u0eba`,
  String.raw`\u0ece\u1715\u180f\u1abf-\u1add\u1ae0-\u1aeb\u1cf7\u1df6-\u1dfa\u32ff\ua7f1-\ua7f4\ua82c\ua8ff\uab69`,
  String.raw`\u{105c9}\u{105e4}\u{10781}-\u{10785}\u{10787}-\u{107b0}\u{107b2}-\u{107ba}\u{10d24}-\u{10d27}`,
  String.raw`\u{10d69}-\u{10d6d}\u{10eab}\u{10eac}\u{10efa}-\u{10eff}\u{10f46}-\u{10f50}\u{10f82}-\u{10f85}\u{11070}`,
  String.raw`\u{11073}\u{11074}\u{110c2}\u{11145}\u{11146}\u{111c9}\u{111ce}\u{111cf}\u{11241}\u{1133b}\u{11383}\u{11385}`,
  String.raw`\u{1138e}\u{11391}\u{113b8}-\u{113c0}\u{113c2}\u{113c5}\u{113c7}-\u{113ca}\u{113cc}-\u{113d0}\u{113d2}`,
  String.raw`\u{113e1}\u{113e2}\u{1145e}\u{1182c}-\u{1183a}\u{11930}-\u{11935}\u{11937}\u{11938}\u{1193b}-\u{1193e}`,
  String.raw`\u{11940}\u{11942}\u{11943}\u{119d1}-\u{119d7}\u{119da}-\u{119e0}\u{119e4}\u{11a01}-\u{11a0a}`,
  String.raw`\u{11a33}-\u{11a39}\u{11a3b}-\u{11a3e}\u{11a47}\u{11a51}-\u{11a5b}\u{11a8a}-\u{11a99}\u{11b60}-\u{11b67}`,
  String.raw`\u{11d31}-\u{11d36}\u{11d3a}\u{11d3c}\u{11d3d}\u{11d3f}-\u{11d45}\u{11d47}\u{11d8a}-\u{11d8e}\u{11d90}`,
  String.raw`\u{11d91}\u{11d93}-\u{11d97}\u{11ef3}-\u{11ef6}\u{11f00}\u{11f01}\u{11f03}\u{11f34}-\u{11f3a}`,
  String.raw`\u{11f3e}-\u{11f42}\u{11f5a}\u{13440}\u{13447}-\u{13455}\u{1611e}-\u{1612f}\u{16d68}-\u{16d6a}\u{16f4f}`,
  String.raw`\u{16f7f}-\u{16f87}\u{16fe4}\u{16ff0}\u{16ff1}\u{1ccd6}-\u{1ccf9}\u{1cf00}-\u{1cf2d}\u{1cf30}-\u{1cf46}`,
  String.raw`\u{1e030}-\u{1e06d}\u{1e08f}\u{1e130}-\u{1e136}\u{1e2ae}\u{1e2ec}-\u{1e2ef}\u{1e4ec}-\u{1e4ef}\u{1e5ee}`,
  String.raw`\u{1e5ef}\u{1e6e3}\u{1e6e6}\u{1e6ee}\u{1e6ef}\u{1e6f5}\u{1f16c}\u{1fbf0}-\u{1fbf9}`,
].join('');

/** Marks later than Unicode 8, whose marks BertNormalizer knows. */
export const laterMarks = [
  String.raw`\u08d4-\u08e1\u1885\u1886\u1dfb\ua8c5\ua9bd\u{1123e}\u{11438}-\u{1143f}\u{11442}-\u{11444}\u{11446}`,
  String.raw`\u{11c30}-\u{11c36}\u{11c38}-\u{11c3d}\u{11c3f}\u{11c92}-\u{11ca7}\u{11caa}-\u{11cb0}\u{11cb2}\u{11cb3}`,
  String.raw`\u{11cb5}\u{11cb6}\u{1e000}-\u{1e006}\u{1e008}-\u{1e018}\u{1e01b}-\u{1e021}\u{1e023}\u{1e024}`,
  String.raw`\u{1e026}-\u{1e02a}\u{1e944}-\u{1e94a}`,
].join('');
