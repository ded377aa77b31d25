import { join } from "node:path";
import { description, license, name } from "../../package.json" with { type: "json" };
import { hashFile } from "../native/asset.ts";
import { executableName, type TargetName } from "../native/targets.ts";
import { downloadUrl, type Release } from "./release-info.ts";

/**
 * Writes the Homebrew formula of a release, for a tap: `Formula/ctxd.rb` of OWNER/homebrew-tap. It installs an
 * executable as it is; homebrew-core would want one that Homebrew itself has built.
 */
export async function make(release: Release): Promise<string[]> {
  const path = join(release.out, `${name}.rb`);
  await Bun.write(path, await formula(release));
  return [path];
}

async function formula(release: Release): Promise<string> {
  const mac = await source(release, "darwin-arm64");
  const arm = await source(release, "linux-arm64");
  const intel = await source(release, "linux-x64");
  // As `brew style` wants it: without an article, and with a capital letter.
  const title = description.replace(/^A (.)/, (_, letter: string) => letter.toUpperCase());
  return `# Made by the release of ${release.version}.
class Ctxd < Formula
  desc "${title}"
  homepage "${release.repository}"
  version "${release.version}"
  license "${license}"

  on_macos do
    depends_on arch: :arm64
    # ONNX Runtime asks for it.
    depends_on macos: :sonoma

    on_arm do
${mac}
    end
  end

  on_linux do
    on_arm do
${arm}
    end

    on_intel do
${intel}
    end
  end

  def install
    bin.install Dir["${name}-*"].first => "${name}"
    chmod 0755, bin/"${name}"
    generate_completions_from_executable(bin/"${name}", "completion")
  end

  service do
    run [opt_bin/"${name}", "serve"]
    keep_alive successful_exit: false
    log_path var/"log/${name}.log"
    error_log_path var/"log/${name}.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/${name} --version")
    assert_match "_${name}", shell_output("#{bin}/${name} completion bash")
  end
end
`;
}

async function source(release: Release, target: TargetName): Promise<string> {
  const path = release.executables[target];
  if (path === undefined) throw new Error(`a formula needs the executable of ${target} too`);
  return `      url "${downloadUrl(release, executableName(target))}"
      sha256 "${await hashFile(path)}"`;
}
