// Finds the program that serves the editor. Pure: the file system is a parameter.
import { delimiter, isAbsolute, join } from "node:path";

/** Where the program is, or what to tell the user. */
export type Located = { path: string } | { problem: string };

export interface Surroundings {
  /** The value of the setting `gander.path`; empty if it is not set. */
  setting: string;
  /** The value of the environment variable PATH. */
  path: string;
  /** The user's home folder. */
  home: string;
  windows: boolean;
  /** True if a file exists there and can be executed. */
  isProgram(path: string): boolean;
}

/**
 * The setting if it is an absolute path, else the first program of that name on the PATH. Folders
 * of the PATH that are not absolute are left out: a program in the folder of a model must not run.
 */
export function locate(around: Surroundings): Located {
  const setting = around.setting.trim();
  const named = setting === "" ? "gander" : setting.replace(/^~(?=[/\\])/, around.home);
  if (isAbsolute(named)) {
    if (around.isProgram(named)) return { path: named };
    return { problem: `gander.path is set to ${named}, but there is no program at this place.` };
  }
  if (/[/\\]/.test(named)) {
    return { problem: `gander.path must be an absolute path or the name of a program, not ${named}.` };
  }
  const folders = around.path.split(delimiter).filter((folder) => isAbsolute(folder));
  const names = around.windows ? [`${named}.exe`, named] : [named];
  for (const folder of folders) {
    for (const name of names) {
      const path = join(folder, name);
      if (around.isProgram(path)) return { path };
    }
  }
  return {
    problem:
      setting === ""
        ? "The program gander was not found on the PATH. Install it, or set gander.path to where it is."
        : `gander.path is set to ${setting}, but the PATH has no program of this name.`,
  };
}
