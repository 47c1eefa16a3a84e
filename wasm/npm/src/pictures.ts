// Pictures that a tool shows and that are larger than the provider takes: made smaller, where there
// is a canvas. Elsewhere the session leaves them out and tells the model so.

import { base64Of, ofBase64 } from "./bytes.js";
import type { Outcome, Part } from "./data.js";
import { endpointOf } from "./providers.js";

type Image = Extract<Part, { type: "image" }>;

/** What a provider takes of one picture. */
interface Limits {
  /** Most characters of base64. */
  base64: number;
  /** Most pixels of the longer side, however many pictures there are. */
  side: number;
}

/** Anthropic takes 8,000 pixels of few pictures, and 2,000 of more than twenty. */
const OF_ANTHROPIC: Limits = { base64: 5 * 2 ** 20, side: 2_000 };
/** No picture is made smaller than this. */
const LEAST_SIDE = 200;
/** What a canvas writes and every provider reads. */
const TYPES = ["image/png", "image/jpeg", "image/webp"];

/** Whether pictures can be made smaller here. */
export function canFit(): boolean {
  return typeof createImageBitmap === "function" && typeof OffscreenCanvas === "function";
}

/** The outcome with its pictures no larger than the provider takes them. */
export async function fitted<T extends Partial<Outcome>>(
  outcome: T,
  provider: string | undefined,
): Promise<T> {
  const limits = endpointOf(provider)?.wire === "anthropic" ? OF_ANTHROPIC : undefined;
  const { parts = [] } = outcome;
  if (limits === undefined || !canFit() || !parts.some(({ type }) => type === "image")) {
    return outcome;
  }
  const all = await Promise.all(
    parts.map((part) => (part.type === "image" ? smaller(part, limits) : [part])),
  );
  return { ...outcome, parts: all.flat() };
}

// The picture, and in words how large it was if it is smaller now.
async function smaller(image: Image, { base64, side }: Limits): Promise<Part[]> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(new Blob([ofBase64(image.data)], { type: image.media_type }));
  } catch {
    // What this browser cannot read is the session's to judge.
    return [image];
  }
  const { width, height } = bitmap;
  const longer = Math.max(width, height);
  if (longer <= side && image.data.length <= base64) return bitmap.close(), [image];
  try {
    for (let to = Math.min(side, longer); to >= LEAST_SIDE; to = Math.floor(to * 0.7)) {
      const scale = to / longer;
      const [w, h] = [width, height].map((each) => Math.max(1, Math.round(each * scale)));
      const made = await drawn(bitmap, [w ?? 1, h ?? 1], image.media_type, base64);
      if (made === undefined) continue;
      const text = `[The picture has ${width} × ${height} pixels and is shown with ${w} × ${h}.]`;
      return [made, { type: "text", text }];
    }
  } finally {
    bitmap.close();
  }
  return [image];
}

async function drawn(
  bitmap: ImageBitmap,
  [width, height]: [number, number],
  wanted: string,
  most: number,
): Promise<Image | undefined> {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, width, height);
  const own = TYPES.includes(wanted) ? wanted : "image/png";
  const blob = await canvas.convertToBlob({ type: own, quality: 0.9 });
  const data = base64Of(new Uint8Array(await blob.arrayBuffer()));
  return data.length <= most ? { type: "image", media_type: blob.type, data } : undefined;
}
