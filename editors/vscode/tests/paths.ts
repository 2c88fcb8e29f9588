import { dirname } from "node:path";

/** The folder of the extension; the build script sets it. */
export const root = process.env.GANDER_EXTENSION_ROOT!;
/** The folder of the repository. */
export const repository = dirname(dirname(root));
