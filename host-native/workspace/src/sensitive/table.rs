//! The table of sensitive names, as a text: one line for each reason that a review gives, sorted by
//! program, with the names that it holds for.

/// The reasons and names. A line is a reason, `: ` and names; one that begins with a space goes on
/// with names of the line before. Names are in lower case and stand for files or links of that
/// name, wherever they are. One with `/` at its end stands for a folder, everything in it and a
/// link of its name; one with `/` inside stands for the end of a path. A `*` is any part of a name.
pub(super) const TABLE: &str = "\
Alembic runs it: alembic.ini alembic/env.py migrations/env.py
Ansible obeys it: ansible.cfg
Ant runs it: build.xml ivy.xml
Apache obeys it: .htaccess
Astro runs it: astro.config.*
Autotools run it: *.m4 acinclude.m4 aclocal.m4 autogen.sh configure configure.ac configure.in
 makefile.am
Babel runs it: .babelrc .babelrc.* babel.config.*
Bazel builds with it: *.bazelrc *.bzl .bazelrc .bazelversion .buckconfig .buckconfig.local
 .buckversion buck build build.bazel module.bazel workspace workspace.bazel workspace.bzlmod
Bitrise, Codemagic or Fastlane runs it: bitrise.yml codemagic.yaml fastlane/
Bower obeys it: .bowerrc
Bun obeys it: .bunfig.toml bunfig.toml
Bundler or Ruby runs it: *.gemspec *.rake *.thor .bundle/ .gemrc .irbrc .pryrc .rspec .rubocop.yml
 .ruby-lsp/ .simplecov .solargraph.yml appraisals berksfile capfile config.ru dangerfile gemfile
 gems.rb guardfile rakefile rakefile.rb thorfile
Caddy or nginx obeys it: caddyfile nginx.conf
Cargo or rustup runs or obeys it: .cargo/ .clippy.toml .config/nextest.toml .rust-analyzer.toml
 .rustfmt.toml build.rs clippy.toml cross.toml dylint.toml makefile.toml rust-analyzer.toml
 rust-toolchain rust-toolchain.toml rustfmt.toml
Changesets, commitlint or semantic-release runs it: .changeset/ .commitlintrc .commitlintrc.*
 .release-it.* .releaserc .releaserc.* commitlint.config.* release.config.*
Clang's tools obey it: .ccls .clang-tidy .clangd compile_commands.json compile_flags.txt
Clojure's tools run it: .clj-kondo/ .clojure/ .lein/ .nrepl.edn bb.edn build.boot deps.edn
 project.clj shadow-cljs.edn
CMake runs it: *.cmake cmakelists.txt cmakepresets.json cmakeuserpresets.json ctestconfig.cmake
cmd or Windows may run it by its name: *.bat *.cmd *.com *.exe *.hta *.lnk *.pif *.reg *.scf *.scr
 *.url *.vbs *.wsf autorun.inf desktop.ini
CocoaPods, SwiftPM or Xcode builds with it: *.podspec *.xcconfig *.xcodeproj/ *.xcscheme
 *.xcworkspace/ .swiftlint.yml .swiftpm/ cartfile mintfile package.swift package@swift-* podfile
Coding agents obey it: .agent/ .agents/ .aider* .amazonq/ .amp/ .augment-guidelines .augment/
 .claude-plugin/ .claude.json .claude/ .cline/ .clinerules-*/ .clinerules/ .codeium/ .codex/ .cody/
 .continue/ .continuerc.json .continuerules .copilot/ .crush.json .crush/ .cursor/ .cursorrules
 .devin/ .factory/ .gemini/ .github/agents/ .github/chatmodes/ .github/copilot-instructions.md
 .github/hooks/ .github/instructions/ .github/prompts/ .github/skills/ .goose/ .goosehints .iflow/
 .innerloop/ .junie/ .kilocode/ .kilocodemodes .kiro/ .mcp.json .opencode/ .openhands/ .plandex/
 .qwen/ .roo/ .roomodes .roorules .roorules-* .rules .sourcegraph/ .tabnine/ .trae/ .warp/
 .windsurf/ .windsurfrules .zencoder/ agent.md agents.md agents.override.md claude.local.md
 claude.md crush.json crush.md gemini.md mcp.json opencode.json opencode.jsonc qwen.md replit.md
 skill.md warp.md
Composer or a tool of PHP runs it: .php-cs-fixer.dist.php .php-cs-fixer.php .php_cs .php_cs.dist
 .user.ini artisan captainhook.json deploy.php deptrac.php ecs.php grumphp.yml infection.json5
 php.ini phpcs.xml phpcs.xml.dist phpstan.dist.neon phpstan.neon phpstan.neon.dist phpunit.xml
 phpunit.xml.dist pint.json psalm.xml psalm.xml.dist rector.php
Conan or vcpkg builds with it: conanfile.py vcpkg-configuration.json
Conda or pixi obeys it: .condarc pixi.toml
Crystal, D, Nim or Zig builds with it: *.nimble *.nims build.zig build.zig.zon config.nims dub.json
 dub.sdl nim.cfg
Cypress or Playwright runs it: .detoxrc* .testcaferc.* cypress.config.* cypress.json
 cypress/plugins/ cypress/support/ nightwatch.conf.* playwright-ct.config.* playwright.config.*
 protractor.conf.* testcafe.config.* wdio.conf.*
Dart or Flutter runs it: .fvmrc analysis_options.yaml build.yaml melos.yaml pubspec_overrides.yaml
Debuggers run it: *-gdb.gdb *-gdb.py .cgdb/ .gdbearlyinit .gdbinit .lldbinit .lldbinit-* .pdbrc
 .pdbrc.py .radare2rc .rizinrc gdbinit
Deno obeys it: deno.json deno.jsonc
Desktops may run it: *.applescript *.command *.desktop *.directory *.scpt *.service *.socket
 *.timer *.webloc *.workflow/
Dev containers and hosted editors run it: .binder/ .coder/ .codesandbox/ .devcontainer.json
 .devcontainer/ .devfile.yaml .gitpod.dockerfile .gitpod.yml .idx/ .replit .stackblitzrc
 devbox.json devenv.nix devenv.yaml devfile.yaml replit.nix
direnv or mise runs it: .asdfrc .autoenv .autoenv.zsh .config/mise.toml .config/mise/ .direnv/
 .env.fish .envrc .flox/ .hermit/ .jenvrc .mise.*.toml .mise.local.toml .mise.toml .mise/ .rtx.toml
 .sdkmanrc .tool-versions flox.toml mise.*.toml mise.local.toml mise.toml mise/config.toml
Docker or Podman runs it: *.dockerfile .docker/ .env .env.* compose*.yaml compose*.yml
 containerfile containerfile.* docker-bake.hcl docker-bake.json docker-bake.override.*
 docker-compose*.yaml docker-compose*.yml dockerfile dockerfile.* earthfile podman-compose.yml
Dprint, Biome or oxlint obeys it: .dprint.json .oxlintrc.json biome.json biome.jsonc dprint.json
 dprint.jsonc
Editors may run it when they open it or the folder: *.code-workspace *.iml *.ipr *.iws
 *.sublime-build *.sublime-project *.sublime-settings *.sublime-workspace .bbproject/ .che/
 .classpath .dir-locals-2.el .dir-locals.el .dir-locals.eld .emacs .emacs.d/ .exrc .factorypath
 .fleet/ .gvimrc .helix/ .idea/ .ipython/ .jupyter/ .kak/ .kakrc .kateconfig .kateproject .lazy.lua
 .lite_project.lua .local.vimrc .luarc.json .luarc.jsonc .lvimrc .nanorc .neoconf.json .nexrc
 .nova/ .nvim.lua .nvim/ .nvimrc .project .projectile .projections.json .run/ .settings/
 .tern-project .theia/ .vim/ .vimlocal .vimrc .vimrc.* .vimspector.json .vs/ .vscode-test.*
 .vscode/ .zed/ _vimrc cask coc-settings.json cppproperties.json eask eldev launch.vs.json
 nbproject/ tasks.vs.json vsworkspacesettings.json
Elixir or Erlang runs it: *.app.src.script .credo.exs .dialyzer_ignore.exs .erlang
 .erlang_ls.config .formatter.exs .iex.exs config/config.exs config/runtime.exs erlang.mk mix.exs
 rebar.config rebar.config.script
ESLint, Prettier or Stylelint runs it: .eslintrc .eslintrc.* .jshintrc .lintstagedrc
 .lintstagedrc.* .markdownlint-cli2.* .markdownlint.cjs .ncurc.* .prettierrc .prettierrc.*
 .remarkrc .remarkrc.* .solhint.json .stylelintrc .stylelintrc.* .textlintrc .textlintrc.*
 .tslintrc .xo-config* eslint.config.* lint-staged.config.* prettier.config.* stylelint.config.*
 tslint.js tslint.json
Git may run it: .captain/ .git-hooks/ .git-templates/ .git/ .git_hooks/ .githooks/ .husky/ .huskyrc
 .huskyrc.* .lefthook.* .lefthook/ .overcommit.yml .pre-commit-config.yaml .pre-commit-config.yml
 .pre-commit-hooks.yaml .simple-git-hooks.* .yorkie/ githooks/ lefthook-local.* lefthook.*
 prek.toml simple-git-hooks.*
Git obeys it: .git-credentials .gitattributes .gitconfig .gitcookies .gitmodules .lfsconfig
Go obeys it: .air.toml .golangci.* .goreleaser.* .gqlgen.yml .ko.yaml .realize.yaml air.toml
 go.work goreleaser.* magefile.go magefiles/
Gradle runs it: *.gradle *.gradle.dcl *.gradle.kts .gradle/ buildsrc/ gradle.properties
 gradle/wrapper/ gradlew gradlew.*
Haskell's tools run it: *.cabal .ghci .haskeline .hlint.yaml cabal.project cabal.project.* hie.yaml
 package.yaml setup.hs setup.lhs shakefile.hs stack.yaml
Heroku or a process manager runs it: .buildpacks .ebextensions/ .elasticbeanstalk/ .firebaserc
 .foreman .overmind.env .platform/ amplify.yml app.yaml apprunner.yaml appspec.yml buildspec.yaml
 buildspec.yml captain-definition cdk.json cloudbuild.* devspace.yaml dokku.yml ecosystem.config.*
 firebase.json fly.toml garden.yml heroku.yml netlify.toml nixpacks.toml now.json okteto.yml
 pm2.config.* procfile procfile.* project.toml railway.json railway.toml render.yaml samconfig.toml
 serverless.ts serverless.yml skaffold.yaml tiltfile vercel.json vercel.ts werf.yaml wrangler.json
 wrangler.jsonc wrangler.toml
Java's tools run it: *.jsh .jitpack.yml .jvmopts .mill-jvm-opts .mill-version .millrc .sbtopts
 .scalafix.conf build.mill build.sc jbang-catalog.json jitpack.yml lombok.config mill mill.bat
Jest, Mocha or Vitest runs it: .c8rc* .mocharc .mocharc.* .nycrc .nycrc.* .taprc ava.config.*
 jasmine.json jest-*.config.* jest.config.* jest.setup.* karma.conf.* mocha.opts tsup.config.*
 vitest.config.* vitest.setup.* vitest.workspace.* web-test-runner.config.*
Jujutsu, Mercurial or another version system may run it: .arcconfig .arclint .bzr/ .cvsrc
 .fossil-settings/ .fslckout .hg/ .hgrc .hgsub .jj/ .pijul/ .repo/ .sl/ .svn/ _darcs/ _fossil_ cvs/
Julia or R runs it: *.rproj .julia/ .juliarc.jl .lintr .rdata .renviron .rprofile _targets.r
 configure.win localpreferences.toml renv/ rprofile.site startup.jl
just, Make or Task runs it: *.just *.mak *.mk *.ninja .justfile .justrc bsdmakefile build.ninja
 build.pl dodo.py fabfile.py gnumakefile imakefile jamfile jamfile.* jamroot justfile magefile
 makefile makefile.in makefile.inc makefile.local makefile.pl makefile.win makefile_* maskfile.md
 mprocs.yaml pavement.py premake4.lua premake5.lua sconscript sconstruct sconstruct.py
 taskfile.dist.yaml taskfile.dist.yml taskfile.yaml taskfile.yml tup.config tupfile tupfile.lua
 tuprules.tup waf wscript xmake.lua
Kubernetes or Terraform obeys it: *.tf *.tf.json *.tfvars *.tofu .terraform/ .terraformrc
 .tflint.hcl chart.yaml helmfile.yaml kustomization.yaml pulumi.yaml terraform.rc terragrunt.hcl
Latex runs it: .chktexrc .latexmkrc arara.yaml latexmkrc texmf.cnf
Lerna, Nx, Rush or Turborepo runs it: .angular-cli.json .moon/ .nodemonrc .nx/ .storybook/ .yarn/
 angular.json broccoli.js brunch-config.* common/config/rush/ ember-cli-build.js gruntfile.*
 gulpfile.* jakefile* lage.config.js lerna.json moon.yml ng-package.json nodemon.json nx.json
 plopfile.* pnpm-workspace.yaml project.json rush.json turbo.json turbo.jsonc workspace.json
Lua's tools run it: *.rockspec .busted .luacheckrc .luarocks/ selene.toml stylua.toml
Maven runs it: .m2/ .mvn/ mvnw mvnw.* pom.xml
Meson builds with it: meson.build meson.options meson_options.txt subprojects/*.wrap
MSBuild or NuGet runs or obeys it: *.cake *.csproj *.csproj.user *.csx *.esproj *.fsproj *.fsx
 *.globalconfig *.proj *.projitems *.props *.psd1 *.psm1 *.rsp *.ruleset *.runsettings *.shproj
 *.sln *.slnf *.slnx *.sqlproj *.targets *.tt *.vbproj *.vcproj *.vcxproj *.wixproj *profile.ps1
 .config/dotnet-tools.json .nuke/ .omnisharp/ build.cake build.fsx build.ps1 directory.solution.*
 dotnet-tools.json global.json launchsettings.json nuget.config omnisharp.json packages.config
 paket.dependencies psake.ps1 stylecop.json testconfig.json
Nix builds with it: *.nix .nixpkgs/
Node.js or a bundler runs it: .eleventy.* .graphqlrc .graphqlrc.* .noderc .parcelrc .postcssrc
 .postcssrc.* .sequelizerc .swcrc .vitepress/ .vuepress/ app.config.js app.config.ts bs-config.*
 build.config.* capacitor.config.* codegen.ts codegen.yml config-overrides.* contentlayer.config.*
 craco.config.* docusaurus.config.* drizzle.config.* electron-builder.* electron.vite.config.*
 eleventy.config.* esbuild.config.* esbuild.js esbuild.mjs forge.config.* foundry.toml gatsby-*.cjs
 gatsby-*.js gatsby-*.mjs gatsby-*.ts graphql.config.* gridsome.config.js gridsome.server.js
 hardhat.config.* i18next-parser.* ionic.config.json knexfile.* knip.ts lighthouserc.*
 linaria.config.* metro.config.* mikro-orm.config.* nest-cli.json next.config.* nitro.config.*
 node.config.json nuxt.config.* ormconfig.* panda.config.* parcel.config.* plasmo.config.*
 postcss.config.* quasar.conf.* quasar.config.* qwik.config.* react-native.config.*
 react-router.config.* remix.config.* rolldown.config.* rollup.config.* rsbuild.config.*
 rslib.config.* rspack.config.* rspress.config.* snowpack.config.* solid.config.* stencil.config.*
 svelte.config.* svgo.config.* swc.config.* tailwind.config.* truffle-config.js tsdown.config.*
 unbuild.config.* uno.config.* unocss.config.* velite.config.* vinxi.config.* vite.*.config.*
 vite.config.* vue.config.* webpack.*.js webpack.*.ts webpack.config.* webpackfile.js
 windi.config.* wxt.config.*
npm, pnpm or Yarn obeys it: *.gyp *.gypi .corepack.env .node-version .npmrc .nvmrc .pnp.*
 .pnpmfile.* .prototools .volta/ .yarnrc .yarnrc.yaml .yarnrc.yml binding.gyp bower.json
 jspm.config.* package.json5 pnpmfile.* yarn.config.cjs
OCaml's tools run it: *.opam .merlin .ocamlformat .ocamlinit _tags bsconfig.json dune dune-project
 dune-workspace dune.inc esy.json myocamlbuild.ml opam rescript.json
Perl runs it: .modulebuildrc .perlcriticrc .perltidyrc .proverc .replyrc cpanfile dist.ini
 sitecustomize.pl
Python, pip or a tool of Python runs or obeys it: *._pth *.pth .coveragerc .flake8 .isort.cfg
 .mypy.ini .pdm.toml .pip/ .pydistutils.cfg .pylintrc .pypirc .pyre_configuration .pytest.ini
 .python-version .pythonrc .pythonrc.py .pythonstartup .readthedocs.* .ruff.toml .snakemake/
 .style.yapf .tox.ini .venv/ .watchmanconfig asgi.py buildout.cfg celeryconfig.py conftest.py
 doc/conf.py docs/conf.py dvc.yaml gunicorn.conf.py hatch.toml hatch_build.py ipython_config.py
 ipython_kernel_config.py jupyter_*_config.py manage.py mkdocs.yml mypy.ini noxfile.py pants
 pants.*.toml pants.ini pants.toml pdm.toml pdm_build.py pip.conf pip.ini poetry.toml pylintrc
 pyproject.toml pyrightconfig.json pytest.ini pytest.toml pythonrc.py pyvenv.cfg readthedocs.yml
 ruff.toml setup.cfg setup.py sitecustomize.py snakefile source/conf.py tox.ini toxfile.py
 usercustomize.py uv.toml venv/ wsgi.py
Scala's sbt runs it: *.sbt .sbtrc .scalafmt.conf build.sbt project.scala project/*.scala
 project/build.properties project/project/
Servers that build, publish or update it run it with their own keys: *.ebuild *.gitlab-ci.yml
 *.jenkinsfile *.spec .appveyor.yml .azure-pipelines/ .azure/ .azuredevops/ .bors.toml .buddy/
 .build.yml .buildkite/ .builds.yml .builds/ .ci-operator.yaml .ci/ .circleci/ .cirrus.star
 .cirrus.yml .cirrus/ .codecov.yml .concourse/ .coveralls.yml .dagger/ .drone.jsonnet .drone.star
 .drone.yaml .drone.yml .earthly/ .evergreen.yml .forgejo/ .gitea/ .github/actions/
 .github/codeowners .github/dependabot.yml .github/renovate.json* .github/workflows/ .gitlab-ci.*
 .gitlab/ .gitstream.cm .harness/ .jenkins/ .kodiak.toml .mergify.yml .mergify/
 .onedev-buildspec.yml .packit.yaml .pipeline/ .pipelines/ .prow.yaml .release-please-manifest.json
 .renovaterc .renovaterc.* .screwdriver.yml .semaphore/ .snyk .space.kts .srcinfo .taskcluster.yml
 .teamcity/ .tekton/ .travis.yml .travis/ .vela.yml .vsts-ci.yml .woodpecker.yaml .woodpecker.yml
 .woodpecker/ .zuul.d/ .zuul.yaml action.yaml action.yml apkbuild appveyor.yml azure-pipelines*
 bitbucket-pipelines.yml bors.toml buddy.yml circle.yml codecov.yml codeowners codeship-*.yml
 dagger.cue dagger.json debian/rules evergreen.yml jenkinsfile jenkinsfile.* pkgbuild
 release-please-config.json renovate.json renovate.json5 screwdriver.yaml shippable.yml
 snap/snapcraft.yaml snapcraft.yaml sonar-project.properties vsts-ci.yml wercker.yml zuul.d/
 zuul.yaml
Shells may run it when they start or enter the folder: .ashrc .bash_aliases .bash_completion
 .bash_env .bash_login .bash_logout .bash_profile .bashrc .blerc .byobu/ .config/autostart/
 .config/environment.d/ .config/fish/ .config/nushell/ .config/systemd/ .cshrc .curlrc .dircolors
 .editrc .elvish/ .fishrc .forward .inputrc .kshrc .lessfilter .lesskey .login .logout .mailrc .mc/
 .mkshrc .muttrc .netrc .nurc .oil/ .p10k.zsh .pam_environment .profile .rhosts .screenrc .shinit
 .shrc .tcshrc .tmux.conf .tmux/ .tmuxinator.yml .tmuxinator/ .tmuxp.yaml .tmuxp.yml .wgetrc
 .xdefaults .xinitrc .xonsh/ .xonshrc .xprofile .xresources .xserverrc .xsession .xsessionrc
 .zellij/ .zimrc .zlogin .zlogout .zprofile .zshenv .zshrc .zshrc.local config.fish
SQL or another client runs it when it starts: *.asd .ammonite/ .ccl-init.lisp .clisprc
 .clisprc.lisp .dbshell .duckdbrc .eclrc .evcxr/ .gnuplot .gnuplotrc .groovy/ .guile .jshellrc
 .maximarc .mongorc.js .mongoshrc.js .my.cnf .mylogin.cnf .node_repl_rc .octaverc .psqlrc .racketrc
 .sageinit .sbclrc .scheme48rc .sqliterc .swiplrc .tclshrc .usqlrc .wishrc startup.m
SSH, GnuPG or a cloud's tool obeys it: .aws/ .boto .config/gcloud/ .gcloud/ .gnupg/ .kube/ .s3cfg
 .ssh/ authorized_keys
Vagrant or a virtual machine runs it: *.pkr.hcl *.vmx .vagrant/ cloud-init.yml kickstart.cfg ks.cfg
 lima.yaml packer.json preseed.cfg vagrantfile
";
